export { type Server, Servers, type ServersOptions } from "./servers.ts";
