/** What the dialects share about the client's tools. Each dialect reads the rest of a tool and decides which are offered. */
import { limits } from '../core/limits.ts';
import { ClientTool } from '../core/turn/plan.ts';
import { invalidRequest, type Issue } from '../core/problem.ts';

/** A tool of the request that is offered to the model, with its path. */
export type ClientOfferedTool<Given> = { tool: Given; path: string };

export function offerClientTools<Given>(tools: readonly Given[] | null | undefined): ClientOfferedTool<Given>[] {
  return (tools ?? []).map((tool, index) => ({ tool, path: `tools[${index}]` }));
}

/** Returns the path of an offered tool. A request without tools uses those of its session, in their order. */
export function pathOfOffered(offered: readonly ClientOfferedTool<unknown>[], index: number): string {
  return offered[index]?.path ?? `tools[${index}]`;
}

/** `read` returns null for a tool whose fault it reported. Throws `invalid_request` with all faults. */
export function readClientTools<Given>(
  offered: readonly ClientOfferedTool<Given>[],
  read: (offer: ClientOfferedTool<Given>, issues: Issue[]) => ClientTool | null,
): ClientTool[] {
  // Checked before the tools are read, since there may be any number.
  if (offered.length > limits.maxClientTools)
    throw invalidRequest([{ path: 'tools', message: `must have at most ${limits.maxClientTools} items` }]);
  const issues: Issue[] = [];
  const tools = offered.map((offer) => read(offer, issues)).filter((tool) => tool !== null);
  if (issues.length > 0) throw invalidRequest(issues);
  return tools;
}

export type ClientToolDeclaration = {
  name?: string | undefined;
  description?: string | null | undefined;
  inputSchema?: object | null | undefined;
};

/** `path`: the path of the tool's fields; `schemaField`: the dialect's name of `inputSchema`. null: the issues contain its faults. */
export function parseClientTool(
  { name, description, inputSchema }: ClientToolDeclaration,
  { path, schemaField, issues }: { path: string; schemaField: string; issues: Issue[] },
): ClientTool | null {
  const parsed = ClientTool.safeParse({ name, description: description ?? '', inputSchema: inputSchema ?? { type: 'object' } });
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) {
    const field = String(issue.path[0] ?? '');
    const message = field === 'name' && name === undefined ? 'is missing' : issue.message;
    issues.push({ path: `${path}.${field === 'inputSchema' ? schemaField : field}`, message });
  }
  return null;
}
