/** Requests that are made again with what was asked for: in the words of the SDK, which has rounds of its own for the 2025 eras. */
import { inputRequired } from '@modelcontextprotocol/server';

/** What a request that is made again brings with it (2026-07-28, and the SDK's own rounds in a session). */
export function givenOf({ inputResponses, requestState }: { inputResponses?: Record<string, unknown>; requestState(): unknown }) {
  const state = requestState();
  return { ...(inputResponses && { responses: inputResponses }), ...(typeof state === 'string' && { state }) };
}

export function toInputRequired({ requests, state }: { requests: Record<string, object>; state: string }) {
  // Each was screened, or is our own: one of the three that MCP knows.
  return inputRequired({ inputRequests: requests as never, requestState: state });
}
