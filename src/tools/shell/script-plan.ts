/**
 * Checks and changes a parsed script before it runs: rejects background jobs, and inserts yield points into loops, functions and long lists
 * (`turns.ts`). Registered with the interpreter, which applies it to every complete script that it parses. The arguments of `eval` and
 * `source` run unchanged; a background job in them runs in the foreground.
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

/** Returns every object of the tree. Iterative, since a script may be nested deeper than the stack. */
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
      `Not run: \`${text}\` is a background job, and this shell does not support them: all processes end with the call. Run it in the foreground (without the &), or make several calls in parallel.`,
    );
  }
  if (node.type !== 'SimpleCommand') return;
  const name = literal(node.name);
  if (name !== null && jobCommands.has(name))
    throw new ToolFault(
      `Not run: this shell does not support background jobs, so \`${name}\` is not available. Remove it and run the command in the foreground.`,
    );
}

const jobCommands: ReadonlySet<string> = new Set(['nohup', 'disown', 'jobs', 'bg', 'fg', 'setsid']);

function literal(word: unknown): string | null {
  if (!isNode(word) || !Array.isArray(word.parts) || word.parts.length !== 1) return null;
  const part: unknown = word.parts[0];
  return isNode(part) && part.type === 'Literal' && typeof part.value === 'string' ? part.value : null;
}
