/**
 * What a tool asks for in the middle of its call (MCP elicitation and sampling; `input_required` of 2026-07-28), and what it was
 * answered: data that travels between a server, Moniker and whoever called. The shapes are MCP's; what they hold is foreign.
 */

/** One question, as MCP has it: `elicitation/create`, `sampling/createMessage` or `roots/list` with its `params`. */
export type InputRequest = { method: string; params: Record<string, unknown> };

/** `result` as MCP has it, such as `{action: "accept", content: {…}}`. */
export type InputAnswer = Record<string, unknown>;

/** By the server's own keys; `state` is what it wants back, opaque. */
export type InputRequired = { requests: Readonly<Record<string, InputRequest>>; state?: string };

/** The same call again, with what was asked for. */
export type GivenInput = { responses: Readonly<Record<string, InputAnswer>>; state?: string };

/** What the call is made again with. */
export function toGiven({ state }: InputRequired, responses: Readonly<Record<string, InputAnswer>>): GivenInput {
  return { responses, ...(state !== undefined && { state }) };
}

/** What whoever called can be asked for (MCP `ClientCapabilities`). */
export type AskableInput = { elicitation?: { form?: object; url?: object }; sampling?: object; roots?: object };

/** `elicitation: {}` is the word of clients from before there were modes: they know forms. */
export function canElicit({ elicitation }: AskableInput, mode: 'form' | 'url'): boolean {
  if (elicitation === undefined) return false;
  return mode === 'url' ? elicitation.url !== undefined : elicitation.form !== undefined || elicitation.url === undefined;
}

export type ProgressUpdate = { progress: number; total?: number; message?: string };

/** A line of a server's log (`notifications/message`). */
export type ServerNotice = { level: string; logger?: string; data: unknown };
