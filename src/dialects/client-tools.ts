/** The caller's own tools, as far as the dialects write them alike: how they differ is told by the reader of each. */
import { limits } from '../core/limits.ts';
import { ClientTool } from '../core/plan.ts';
import { invalidRequest, type Issue } from '../core/problem.ts';

export type GivenTool = { name: string | undefined; description?: string | null | undefined; inputSchema?: object | null | undefined };

/** `read` gives null for a tool that is not offered, or whose fault it noted. Throws `invalid_request` with all faults. */
export function readClientTools<Given>(
  given: readonly Given[],
  read: (tool: Given, index: number, issues: Issue[]) => ClientTool | null,
): ClientTool[] {
  const issues: Issue[] = [];
  if (given.length > limits.maxClientTools) issues.push({ path: 'tools', message: `must have at most ${limits.maxClientTools} items` });
  const tools = given.map((tool, index) => read(tool, index, issues)).filter((tool) => tool !== null);
  if (issues.length > 0) throw invalidRequest(issues);
  return tools;
}

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
