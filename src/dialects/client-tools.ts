/** What the dialects share about the client's tools. Each dialect reads the rest of a tool and decides which are offered. */
import { recordOf } from '../core/json/wire-value.ts';
import { limits } from '../core/limits/limits.ts';
import type { Dropped } from '../core/model/dropped.ts';
import type { Marked } from '../core/model/message.ts';
import { ClientTool } from '../core/turn/plan.ts';
import { invalidRequest, type Issue, quoted } from '../core/problem.ts';
import { type ConversationOptions, markReader } from './conversation.ts';
import type { Field } from './fields.ts';

/** A tool of the request that is offered to the model, with its path. */
export type ClientOfferedTool<Given> = { tool: Given; path: string };

export function offerClientTools<Given>(tools: readonly Given[] | null | undefined): ClientOfferedTool<Given>[] {
  return (tools ?? []).map((tool, index) => ({ tool, path: `tools[${index}]` }));
}

/** Returns the path of an offered tool. A request without tools uses those of its session, in their order. */
export function pathOfOffered(offered: readonly ClientOfferedTool<unknown>[], index: number): string {
  return offered[index]?.path ?? `tools[${index}]`;
}

/** Returns the tools without those that the model can do without beside the client's own; each of these is named. */
export function withoutOptional<Tool extends { type?: unknown }, Offer extends ClientOfferedTool<Tool>>(
  offered: Offer[],
  kindOf: (tool: Tool) => Field | undefined,
  dropped: Dropped,
): Offer[] {
  if (!offered.some(({ tool }) => kindOf(tool)?.fate === 'read')) return offered;
  return offered.filter(({ tool }) => {
    const kind = kindOf(tool);
    if (kind?.fate === 'optional') dropped.add(`tools.${String(tool.type)}`, kind.reason);
    return kind?.fate !== 'optional';
  });
}

/** Returns whether the tool is of a kind that is not supported, after reporting it. */
export function isRefused(kind: Field | undefined, { tool, path }: ClientOfferedTool<{ type?: unknown }>, issues: Issue[]): boolean {
  if (kind?.fate !== 'refused' && kind?.fate !== 'optional') return false;
  issues.push({ path: `${path}.type`, message: `${quoted(String(tool.type))} ${kind.message}` });
  return true;
}

/** `read` returns null for a tool whose fault it reported. Throws `invalid_request` with all faults. */
export function readClientTools<Given extends object>(
  offered: readonly ClientOfferedTool<Given>[],
  read: (offer: ClientOfferedTool<Given>, issues: Issue[]) => ClientTool | null,
  options: ConversationOptions = {},
): (ClientTool & Marked)[] {
  // Checked before the tools are read, since there may be any number.
  if (offered.length > limits.maxClientTools)
    throw invalidRequest([{ path: 'tools', message: `must have at most ${limits.maxClientTools} items` }]);
  const issues: Issue[] = [];
  const mark = markReader(options);
  const tools = offered.flatMap((offer) => {
    const tool = read(offer, issues);
    // LiteLLM takes it at both places.
    return tool === null ? [] : [{ ...tool, ...mark({ ...recordOf(recordOf(offer.tool).function), ...offer.tool }) }];
  });
  if (issues.length > 0) throw invalidRequest(issues);
  return tools;
}

export type ClientToolDeclaration = {
  name?: string | undefined;
  description?: string | null | undefined;
  inputSchema?: object | null | undefined;
  strict?: boolean | null | undefined;
};

/** `path`: the path of the tool's fields; `schemaField`: the dialect's name of `inputSchema`. null: the issues contain its faults. */
export function parseClientTool(
  { name, description, inputSchema, strict }: ClientToolDeclaration,
  { path, schemaField, issues }: { path: string; schemaField: string; issues: Issue[] },
): ClientTool | null {
  const given = { name, description: description ?? '', inputSchema: inputSchema ?? { type: 'object' } };
  const parsed = ClientTool.safeParse(strict === true ? { ...given, strict } : given);
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) {
    const field = String(issue.path[0] ?? '');
    const message = field === 'name' && name === undefined ? 'is missing' : issue.message;
    issues.push({ path: `${path}.${field === 'inputSchema' ? schemaField : field}`, message });
  }
  return null;
}
