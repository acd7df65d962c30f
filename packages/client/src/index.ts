// The client's public surface. Adding a line makes something public.
export {
  type CallOptions,
  type Client,
  type ClientOptions,
  createClient,
  type RouteCall,
} from "./client.ts";
export { type Frame, FrameStream } from "./frame-stream.ts";
export type { Fetch, FetchRequest, FetchResponse } from "./transport.ts";
