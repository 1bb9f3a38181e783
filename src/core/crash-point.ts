/**
 * Places where a dying process is worst, by name. In the product each is a call of an empty function; the crash tests build a
 * bundle in which it stops there and tells the test (`test/crash/`). The names are those of the crash matrix.
 */
export type CrashPoint =
  | 'accept-before-ack'
  | 'ack-before-turn'
  | 'before-model-request'
  | 'model-stream-mid'
  | 'model-stream-tool-args-mid'
  | 'model-done-before-persist'
  | 'persisted-before-tools'
  | 'tool-marked-before-effect'
  | 'effect-before-result'
  /** The same two of a call that a tool makes; then when its result is kept and the tool has not got it, and when the tool waits for it. */
  | 'inner-marked-before-effect'
  | 'inner-effect-before-result'
  | 'inner-result-before-root'
  | 'paused-for-inner'
  | 'result-partial-of-parallel'
  | 'results-before-next-model'
  | 'paused-for-confirmation'
  | 'confirmed-before-effect'
  | 'denied-before-continue'
  | 'compaction-mid'
  | 'final-before-event'
  | 'cancel-mid'
  | 'alarm-mid'
  | 'schema-migration-mid'
  | 'second-message-queued'
  | 'delete-session-mid'
  /** A delivery is stored, its sender not answered; then, not yet on its way to its session; then, there, which the Catalog does not know. */
  | 'webhook-before-200'
  | 'delivery-stored-before-dispatch'
  | 'delivery-taken-before-noted'
  /** A turn has ended, and the Catalog is not told yet. */
  | 'turn-ended-before-noted';

/** Awaited where the code can wait: what was written before it is then durable when the process is stopped at it. */
export function crashPoint(_name: CrashPoint): void | Promise<void> {}
