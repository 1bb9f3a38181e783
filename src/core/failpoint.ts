/**
 * Named places where a process crash does the most damage. In production each one calls an empty function; the crash tests build a
 * bundle that stops there and notifies the test (`test/crash/`). The names are those of the crash matrix.
 */
export type Failpoint =
  | 'accept-before-ack'
  | 'ack-before-turn'
  | 'before-model-request'
  | 'model-stream-mid'
  | 'model-stream-tool-args-mid'
  | 'model-done-before-persist'
  | 'persisted-before-tools'
  | 'tool-marked-before-effect'
  | 'effect-before-result'
  /**
   * The same two points for an inner call; then the point where its result is stored but the tool has not received it, and the point
   * where the tool waits for it.
   */
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
  /**
   * A delivery is stored and its sender has no response; then it is not yet sent to its session; then the session has it and the
   * Catalog does not know.
   */
  | 'webhook-before-200'
  | 'delivery-stored-before-dispatch'
  | 'delivery-taken-before-noted'
  /** A turn has ended and the Catalog is not notified yet. */
  | 'turn-ended-before-noted'
  /** The usage of a turn is stored and not sent; then it was sent, and the session does not know. */
  | 'usage-noted-before-sent'
  | 'usage-sent-before-noted'
  /** A case of a replay has run and is not stored. */
  | 'replay-case-before-stored';

/** Awaited where the code can wait, so that everything written before it is durable when the process is stopped. */
export function failpoint(_name: Failpoint): void | Promise<void> {}
