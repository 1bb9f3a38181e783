/**
 * The script of the rehearsal model: a rule for each case, always with the same reply. Reads and writes the Chat Completions wire, since it
 * replaces a provider; `rehearsal.ts` is its HTTP side.
 */
import { runCodeSpec } from '../../core/turn/run-code.ts';
import { findToolsSpec } from '../../core/toolset/injected-tool.ts';
import { limits } from '../../core/limits/limits.ts';
import { bestTool, guessArguments, parseArgumentLine, type RehearsalTool } from './tools.ts';
import { cutToLength } from '../../core/text/utf8.ts';

/** The fields of a request that it uses, already validated. */
export type RehearsalRequest = {
  messages: readonly RehearsalMessage[];
  tools: readonly RehearsalTool[];
  toolChoice: 'auto' | 'none' | 'required' | { name: string };
};
export type RehearsalMessage = {
  role: string;
  text: string;
  calls: readonly { id: string; name: string; arguments: string }[];
  /** For a tool message: the call that it belongs to. */
  callId: string | null;
};

export type RehearsalReply = { text: string; calls: readonly { name: string; arguments: string }[] };

const introduction = 'I am the rehearsal model, a stand-in with no intelligence.';

/** Returns the next step of the conversation. */
export function nextReply({ messages, tools, toolChoice }: RehearsalRequest): RehearsalReply {
  const lastUser = messages.findLastIndex((message) => message.role === 'user');
  const input = messages[lastUser]?.text ?? '';
  const since = messages.slice(lastUser + 1);
  const stepsDone = since.filter((message) => message.role === 'assistant').length;
  const mayCall = toolChoice !== 'none';
  const groups = commandGroups(withData(input, (data) => data.replace(/\s+/g, ' ')));
  if (groups.length > 0) {
    const group = groups[stepsDone];
    if (group !== undefined && mayCall) return { text: '', calls: group.map((line) => readCommand(line, tools)) };
    return say(stepsDone > 0 ? report(since) : `${introduction} Tools are switched off for this step, so I ran nothing.`);
  }
  const asked = withData(input, () => '');
  const found = stepsDone === 1 && toolChoice === 'auto' ? foundTool(asked, since, tools) : undefined;
  if (found !== undefined) return { text: '', calls: [{ name: found.name, arguments: JSON.stringify(guessArguments(input, found)) }] };
  if (stepsDone > 0) return say(report(since));
  const earlier = messages.slice(0, Math.max(lastUser, 0));
  if (toolChoice !== 'required' && typeof toolChoice === 'string' && asksForHistory(asked))
    return say(`${introduction} ${recall(earlier)}`);
  if (mayCall) {
    const tool = chooseTool(asked, tools, toolChoice);
    if (tool !== undefined) return { text: '', calls: [{ name: tool.name, arguments: JSON.stringify(argumentsFor(input, tool)) }] };
  }
  return say(
    [introduction, abilities(tools), earlier.some((message) => message.role === 'user') ? recall(earlier) : '']
      .filter((part) => part !== '')
      .join('\n\n'),
  );
}

function say(text: string): RehearsalReply {
  return { text, calls: [] };
}

/**
 * Returns the input with the marked data replaced (`core/triggers/templates/marked-data.ts`): like a model should, the script follows no
 * commands in data. In the arguments of a command line, data stays.
 */
function withData(input: string, write: (data: string) => string): string {
  const [before = '', ...marked] = input.split('<data>');
  return marked.reduce((text, part) => {
    const end = part.indexOf('</data>');
    return end === -1 ? `${text}<data>${part}` : `${text}<data>${write(part.slice(0, end))}${part.slice(end)}`;
  }, before);
}

/** Lines that begin with `/name`, in groups separated by blank lines: one group is one step. */
function commandGroups(input: string): string[][] {
  return input
    .split(/\n[^\S\n]*\n/)
    .map((group) =>
      group
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => /^\/[^\s/]/.test(line)),
    )
    .filter((group) => group.length > 0);
}

/** Sends the name as written, so that any spelling can be tested. */
function readCommand(line: string, tools: readonly RehearsalTool[]): { name: string; arguments: string } {
  const name = /^\/([^\s{]+)/.exec(line)?.[1] ?? '';
  return { name, arguments: parseArgumentLine(line.slice(1 + name.length).trim(), findTool(name, tools)) };
}

function findTool(name: string, tools: readonly RehearsalTool[]): RehearsalTool | undefined {
  const folded = fold(name);
  return (
    tools.find((tool) => tool.name === name) ?? tools.find((tool) => [tool.name, ...tool.aliases].some((known) => fold(known) === folded))
  );
}

function fold(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

function chooseTool(input: string, tools: readonly RehearsalTool[], choice: RehearsalRequest['toolChoice']): RehearsalTool | undefined {
  if (typeof choice === 'object') return tools.find((tool) => tool.name === choice.name);
  // It writes no code; `run_code` is only called by command.
  const others = tools.filter(({ name }) => name !== findToolsSpec.name && name !== runCodeSpec.name);
  // No visible tool matches, but hidden ones may.
  return bestTool(input, others) ?? tools.find(({ name }) => name === findToolsSpec.name) ?? (choice === 'required' ? tools[0] : undefined);
}

/** After a search for tools: the first found tool that is now offered; the results are sorted by relevance. */
function foundTool(input: string, since: readonly RehearsalMessage[], tools: readonly RehearsalTool[]): RehearsalTool | undefined {
  const calls = since.flatMap((message) => message.calls);
  if (calls.length === 0 || calls.some(({ name }) => name !== findToolsSpec.name)) return undefined;
  const lines = since.flatMap(({ role, text }) => (role === 'tool' ? [...text.matchAll(/^- ([A-Za-z_][\w-]{0,63})(?= \(|:)/gm)] : []));
  const named = lines.flatMap(([, name]) => tools.find((tool) => tool.name === name) ?? []);
  return (
    named[0] ??
    bestTool(
      input,
      tools.filter(({ name }) => name !== findToolsSpec.name),
    )
  );
}

/** The search query is the whole input. */
function argumentsFor(input: string, tool: RehearsalTool): Record<string, unknown> {
  return tool.name === findToolsSpec.name
    ? { query: input.trim().slice(0, limits.maxFindQueryLength) || '?' }
    : guessArguments(input, tool);
}

function asksForHistory(input: string): boolean {
  return /\b(you (still )?(remember|recall|know)|earlier|previously|so far|last time|what (happened|was said|did (i|you|we))|(did|have) i\b|(was|is) my|our (conversation|chat))\b|\b(what|which)\b.*\b(before|remember)\b/i.test(
    input,
  );
}

/** Returns a summary of the conversation: user inputs and results, the latest last. */
function recall(earlier: readonly RehearsalMessage[]): string {
  const lines = earlier.flatMap((message, index): string[] => {
    if (message.role === 'user') return [`- you said: ${oneLine(message.text)}`];
    if (message.role === 'tool') return [`- ${callOf(earlier.slice(0, index), message)} gave: ${oneLine(message.text)}`];
    return [];
  });
  if (lines.length === 0) return 'This is the beginning of our conversation: I have nothing to remember yet.';
  return `From this conversation I have:\n${lines.slice(-maxRecalled).join('\n')}`;
}

const maxRecalled = 40;

function report(since: readonly RehearsalMessage[]): string {
  const lines = since.flatMap((message, index) =>
    message.role === 'tool' ? [`${callOf(since.slice(0, index), message)} gave:\n${cutToLength(message.text, 4000)}`] : [],
  );
  return [`${introduction} This is what the tools gave.`, ...lines].join('\n\n');
}

/** Returns `name({"its":"arguments"})` for the call of a tool message. */
function callOf(before: readonly RehearsalMessage[], result: RehearsalMessage): string {
  const call = before
    .findLast((message) => message.calls.some(({ id }) => id === result.callId))
    ?.calls.find(({ id }) => id === result.callId);
  return call === undefined ? 'a tool' : `${call.name}(${cutToLength(call.arguments, 200)})`;
}

function abilities(tools: readonly RehearsalTool[]): string {
  if (tools.length === 0)
    return 'I have no tools here. With a toolset I call them: write a line such as /name key=value, or /name {"key": "value"}.';
  const list = tools.slice(0, 30).map((tool) => {
    const aliases = tool.aliases.length > 0 ? ` (also ${tool.aliases.join(', ')})` : '';
    return `- ${tool.name}${aliases}: ${oneLine(tool.description.split('\n')[0] ?? '')}`;
  });
  const more = tools.length > list.length ? `\n- and ${tools.length - list.length} more` : '';
  return `I can call these tools:\n${list.join('\n')}${more}\nWrite a line such as /${tools[0]?.name} followed by text, key=value or {"key": "value"}; several lines run at once, a blank line begins the next step.`;
}

function oneLine(text: string): string {
  return cutToLength(text.replace(/\s+/g, ' ').trim(), 300);
}
