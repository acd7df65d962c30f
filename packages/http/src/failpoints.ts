/**
 * Moments of a request at which what a crash leaves behind differs: channels of
 * `node:diagnostics_channel`, published at the price of one look at a flag while nobody listens.
 */
import { type Channel, channel } from "node:diagnostics_channel";

/** What a request asked for is done, its answer is not sent. */
export const answering: Channel = channel("engine:http:answering");
/** What a line of a request asked for is done, its answering line is not sent. */
export const answeringLine: Channel = channel("engine:http:answering-line");
