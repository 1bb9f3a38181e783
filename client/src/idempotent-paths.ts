/** The POST operations with an `Idempotency-Key`, for which the client makes one. A test compares the list with the OpenAPI document. */
export const idempotentPaths: readonly string[] = [
  '/v1/toolsets/{toolset}/calls',
  '/v1/sessions',
  '/v1/sessions/{id}/turns',
  '/v1/replays',
  '/v1/ai-sdk/chat',
  '/agui/{agent}',
  '/v1/chat/completions',
  '/v1/responses',
  '/v1/conversations',
  '/v1/messages',
];
