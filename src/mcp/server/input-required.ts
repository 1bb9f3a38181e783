/** Requests that are repeated with input, in the SDK's types, which also support them in the 2025 eras. */
import { inputRequired } from '@modelcontextprotocol/server';

/** Returns the input of a repeated request (2026-07-28, and the SDK's own rounds in a session). */
export function givenOf({ inputResponses, requestState }: { inputResponses?: Record<string, unknown>; requestState(): unknown }) {
  const state = requestState();
  return { ...(inputResponses && { responses: inputResponses }), ...(typeof state === 'string' && { state }) };
}

export function toInputRequired({ requests, state }: { requests: Record<string, object>; state: string }) {
  // Each is already checked or our own: one of the three that MCP defines.
  return inputRequired({ inputRequests: requests as never, requestState: state });
}
