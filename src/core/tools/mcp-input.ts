/**
 * The input that a tool requests during its call (MCP elicitation and sampling; `input_required` of 2026-07-28), and the answers.
 * This data travels between a server, Moniker and the caller. The shapes are MCP's; the content is untrusted.
 */

import { isDeeperThan, isRecord } from '../json/wire-value.ts';
import { limits } from '../limits/limits.ts';
import { KB } from '../limits/units.ts';

/**
 * Members of `_meta` that concern one exchange with one of two ends, not both ends (2026-07-28, "General fields: `_meta`"; 2025-11-25, tasks).
 * All others are passed on, also those of extensions.
 */
const metaOfExchange: ReadonlySet<string> = new Set([
  'progressToken',
  ...['protocolVersion', 'clientInfo', 'clientCapabilities', 'serverInfo', 'logLevel', 'subscriptionId', 'related-task'].map(
    (name) => `io.modelcontextprotocol/${name}`,
  ),
]);

/** Returns the `_meta` that concerns both ends. undefined: none. */
export function passedMeta(meta: unknown): Record<string, unknown> | undefined {
  if (!isRecord(meta)) return undefined;
  const passed = Object.entries(meta).filter(([name]) => !metaOfExchange.has(name));
  return passed.length === 0 ? undefined : Object.fromEntries(passed);
}

/** Adds our members to a server's `_meta`. Its members with the same names are passed on as `server/NAME`, so that neither replaces the other. */
export function withOwnMeta<Own extends Record<string, unknown>>(
  foreign: Record<string, unknown>,
  own: Own,
): Own & Record<string, unknown> {
  const passed = Object.entries(foreign).map(([name, value]): [string, unknown] => {
    const isTaken = Object.hasOwn(own, name.replace(/^(?:server\/)+/, ''));
    return [isTaken ? `server/${name}` : name, value];
  });
  return { ...Object.fromEntries(passed), ...own };
}

/** One MCP request: `elicitation/create`, `sampling/createMessage` or `roots/list` with its `params`. */
export type InputRequest = { method: string; params: Record<string, unknown> };

/** An MCP `result`, such as `{action: "accept", content: {…}}`. */
export type InputAnswer = Record<string, unknown>;

/** Requests by the server's own keys. `state`: opaque data that the server expects back. */
export type InputRequired = { requests: Readonly<Record<string, InputRequest>>; state?: string };

/** The answers with which the same call is repeated. */
export type GivenInput = { responses: Readonly<Record<string, InputAnswer>>; state?: string };

/** Returns the input for the repeated call. */
export function toGiven({ state }: InputRequired, responses: Readonly<Record<string, InputAnswer>>): GivenInput {
  return { responses, ...(state !== undefined && { state }) };
}

/** The requests that the caller supports (MCP `ClientCapabilities`). */
export type AskableInput = { elicitation?: { form?: object; url?: object }; sampling?: object; roots?: object; extensions?: Extensions };

/** Extensions of MCP by their names, each with its settings (2026-07-28, `capabilities.extensions`). */
export type Extensions = Readonly<Record<string, Record<string, unknown>>>;

/** Tasks concern one exchange: the service waits for those of servers. */
export const tasksExtension = 'io.modelcontextprotocol/tasks';
const maxExtensions = 32;
const maxExtensionsLength = 16 * KB;

/** Returns the extensions in declared capabilities that one end offers to the other. undefined: none, or more than is passed on. */
export function passedExtensions(capabilities: Readonly<Record<string, unknown>>): Extensions | undefined {
  const { extensions } = capabilities;
  if (!isRecord(extensions) || isDeeperThan(extensions, limits.maxJsonDepth)) return undefined;
  const passed = Object.entries(extensions).flatMap(([name, settings]) =>
    name !== tasksExtension && isRecord(settings) ? [[name, settings] as const] : [],
  );
  const isSmall = passed.length <= maxExtensions && JSON.stringify(passed).length <= maxExtensionsLength;
  return passed.length === 0 || !isSmall ? undefined : Object.fromEntries(passed);
}

/** Pages that a client shows beside the conversation (ext-apps, 2026-01-26). */
const appsExtension = 'io.modelcontextprotocol/ui';

/** Whether the client shows pages of MCP apps, and keeps their tools from its model. */
export function showsApps({ extensions }: AskableInput): boolean {
  return extensions?.[appsExtension] !== undefined;
}

/** Declared when tools are listed: many servers list only tools that their client can support. */
export const allAskableInput: AskableInput = {
  elicitation: { form: {}, url: {} },
  sampling: {},
  extensions: { [appsExtension]: { mimeTypes: ['text/html;profile=mcp-app'] } },
};

/** Clients from before modes existed send `elicitation: {}` and support forms. */
export function canElicit({ elicitation }: AskableInput, mode: 'form' | 'url'): boolean {
  if (elicitation === undefined) return false;
  return mode === 'url' ? elicitation.url !== undefined : elicitation.form !== undefined || elicitation.url === undefined;
}

export type ProgressUpdate = { progress: number; total?: number; message?: string };

/** A log line of a server (`notifications/message`). */
export type ServerNotice = { level: string; logger?: string; data: unknown };
