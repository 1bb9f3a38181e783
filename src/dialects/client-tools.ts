/** The caller's own tools, as far as the dialects write them alike: what else one says, and which are offered, is read by each. */
import { limits } from '../core/limits.ts';
import { ClientTool } from '../core/plan.ts';
import { invalidRequest, type Issue } from '../core/problem.ts';

/** A tool of the request that the model is to be offered, and its place. */
export type OfferedTool<Given> = { tool: Given; path: string };

export function offerAll<Given>(tools: readonly Given[] | null | undefined): OfferedTool<Given>[] {
  return (tools ?? []).map((tool, index) => ({ tool, path: `tools[${index}]` }));
}

/** Where one of the offered tools stands. A request that says nothing about tools has those of its session, in their order. */
export function pathOfOffered(offered: readonly OfferedTool<unknown>[], index: number): string {
  return offered[index]?.path ?? `tools[${index}]`;
}

/** `read` gives null for a tool whose fault it noted. Throws `invalid_request` with the faults of all. */
export function readClientTools<Given>(
  offered: readonly OfferedTool<Given>[],
  read: (offer: OfferedTool<Given>, issues: Issue[]) => ClientTool | null,
): ClientTool[] {
  // Before each is read: there may be any number.
  if (offered.length > limits.maxClientTools)
    throw invalidRequest([{ path: 'tools', message: `must have at most ${limits.maxClientTools} items` }]);
  const issues: Issue[] = [];
  const tools = offered.map((offer) => read(offer, issues)).filter((tool) => tool !== null);
  if (issues.length > 0) throw invalidRequest(issues);
  return tools;
}

export type GivenTool = { name?: string | undefined; description?: string | null | undefined; inputSchema?: object | null | undefined };

/** `path`: where its fields stand; `schemaField`: what the dialect calls `inputSchema`. null: its faults are among the issues. */
export function parseClientTool(
  { name, description, inputSchema }: GivenTool,
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
