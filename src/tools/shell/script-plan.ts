/**
 * What becomes of a script between its parsing and its run: background jobs are refused before anything happens, and loops, functions and long
 * lists get points at which they give way (`turns.ts`). Registered with the interpreter, which shows it every script that it parses whole; what
 * `eval` and `source` are given runs as it stands, a job of it in the foreground.
 */
import type { Bash } from 'just-bash/browser';
import { ToolFault } from '../define-tool.ts';

type Plugin = Parameters<Bash['registerTransformPlugin']>[0];
type Script = Parameters<Plugin['transform']>[0]['ast'];
type Statement = Script['statements'][number];

/** What a script comes by: a command, which is told `$?` and answers it, so that it leaves no trace; in loops a file that is asked for. */
export const turnCommand = '__turn';
export const turnDevice = '/dev/.turn';

export const scriptPlan: Plugin = {
  name: 'script-plan',
  transform({ ast }) {
    const nodes = nodesOf(ast);
    for (const node of nodes) refuseJobs(node);
    for (const node of nodes) addTurns(node);
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

const loops: ReadonlySet<unknown> = new Set(['For', 'CStyleFor', 'While', 'Until']);
/** Statements of one list that stand between two points. */
const stride = 16;

function addTurns(node: Node): void {
  // In front of the condition, so that the body still finds in `$?` what the condition came to.
  const entered = node.type === 'While' || node.type === 'Until' ? node.condition : loops.has(node.type) ? node.body : null;
  if (isStatements(entered)) entered.unshift(passing());
  const called = node.type === 'FunctionDef' && isNode(node.body) ? node.body.body : null;
  if (isStatements(called)) called.unshift(tracelessTurn());
  for (const list of [node.statements, node.body]) {
    if (!isStatements(list) || list.length <= stride) continue;
    const spread = list.flatMap((statement, index) => (index > 0 && index % stride === 0 ? [tracelessTurn(), statement] : [statement]));
    list.splice(0, list.length, ...spread);
  }
}

function isStatements(list: unknown): list is Statement[] {
  return Array.isArray(list) && list.length > 0 && list.every((item) => isNode(item) && item.type === 'Statement');
}

/** `[[ -e /dev/.turn ]]`: a file system's question (`file-system.ts`), which costs a third of a command. `$?` is 0 after it. */
function passing(): Statement {
  const operand = { type: 'Word' as const, parts: [{ type: 'Literal' as const, value: turnDevice }] };
  const test: Command = { type: 'ConditionalCommand', expression: { type: 'CondUnary', operator: '-e', operand }, redirections: [] };
  return { type: 'Statement', pipelines: [pipeline(test)], operators: [], background: false };
}

/** `__turn "$?" && :`, which leaves `$?` as it is and does not end a script under `set -e`. */
function tracelessTurn(): Statement {
  const call = simple(turnCommand, [{ type: 'Word', parts: [{ type: 'ParameterExpansion', parameter: '?', operation: null }] }]);
  return { type: 'Statement', pipelines: [pipeline(call), pipeline(simple(':', []))], operators: ['&&'], background: false };
}

type Pipeline = Statement['pipelines'][number];
type Command = Pipeline['commands'][number];
type Word = { type: 'Word'; parts: { type: 'ParameterExpansion'; parameter: string; operation: null }[] };

function simple(name: string, args: Word[]): Command {
  return {
    type: 'SimpleCommand',
    name: { type: 'Word', parts: [{ type: 'Literal', value: name }] },
    args,
    assignments: [],
    redirections: [],
  };
}

function pipeline(command: Command): Pipeline {
  return { type: 'Pipeline', commands: [command], negated: false };
}
