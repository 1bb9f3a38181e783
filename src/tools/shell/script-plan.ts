/**
 * What becomes of a script between its parsing and its run: background jobs are refused before anything happens, and loops, functions and long
 * lists get points at which they give way (`turns.ts`). Registered with the interpreter, which shows it every script that it parses whole; what
 * `eval` and `source` are given runs as it stands, a job of it in the foreground.
 */
import type { Bash } from 'just-bash/browser';
import { ToolFault } from '../define-tool.ts';

type Plugin = Parameters<Bash['registerTransformPlugin']>[0];

export const scriptPlan: Plugin = {
  name: 'script-plan',
  transform({ ast }) {
    for (const node of nodesOf(ast)) refuseJobs(node);
    return { ast };
  },
};

type Node = Record<string, unknown>;

/** Every object of the tree. Not by recursion: a script may nest deeper than the stack. */
function nodesOf(root: object): Node[] {
  const found: Node[] = [];
  const pending: unknown[] = [root];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (Array.isArray(next)) {
      for (const item of next) pending.push(item);
    } else if (isNode(next)) {
      found.push(next);
      for (const value of Object.values(next)) if (typeof value === 'object' && value !== null) pending.push(value);
    }
  }
  return found;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null;
}

function refuseJobs(node: Node): void {
  if (node.type === 'Statement' && node.background === true) {
    const text = typeof node.sourceText === 'string' ? node.sourceText.slice(0, 80) : '…&';
    throw new ToolFault(
      `Not run: \`${text}\` is a background job, and this shell has none: everything ends with the call. Run it in the foreground (without the &), or make several calls at once.`,
    );
  }
  if (node.type !== 'SimpleCommand') return;
  const name = literal(node.name);
  if (name !== null && jobCommands.has(name))
    throw new ToolFault(
      `Not run: this shell has no background jobs, so there is no \`${name}\`: everything ends with the call. Leave it out and run the command in the foreground.`,
    );
}

const jobCommands: ReadonlySet<string> = new Set(['nohup', 'disown', 'jobs', 'bg', 'fg', 'setsid']);

function literal(word: unknown): string | null {
  if (!isNode(word) || !Array.isArray(word.parts) || word.parts.length !== 1) return null;
  const part: unknown = word.parts[0];
  return isNode(part) && part.type === 'Literal' && typeof part.value === 'string' ? part.value : null;
}
