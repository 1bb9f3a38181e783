/** `@moniker/client`: a typed client of Moniker for browsers, Node, Workers and Deno. README.md shows how it is used. */
export { streamChat, type ChatChunk, type ChatOptions, type ChatRequest } from './chat.ts';
export { createClient, newIdempotencyKey, type ClientOptions, type MonikerClient } from './client.ts';
export { MonikerError, type ErrorCode, type Problem } from './error.ts';
export {
  followEvents,
  followReplay,
  streamTurn,
  type FollowOptions,
  type ReplayEvent,
  type SessionEvent,
  type StreamTurnOptions,
  type TurnInput,
  type TurnRequest,
} from './events.ts';
export { paginate, type ItemOf, type ListPath } from './paginate.ts';
export {
  runTurn,
  type ApprovalAnswer,
  type ApprovalRequired,
  type ClientTool,
  type InputRequired,
  type RunTurnOptions,
  type TurnAnswer,
} from './run-turn.ts';
export { parseEventStream, type ServerSentEvent } from './sse.ts';
export type { components, operations, paths } from './schema.ts';
