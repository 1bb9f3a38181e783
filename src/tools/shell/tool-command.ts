/**
 * The shell command `tool`, which calls the other tools of the conversation. Each call goes through `engine/call/call-tool.ts`, works on the
 * script's own files, and prints on stdout what a model would read.
 */
import { defineCommand, type Command, type CommandContext } from 'just-bash/browser';
import { toCodeCallResult } from '../../core/turn/run-code.ts';
import { fold } from '../../core/names/fold.ts';
import { toLatin1 } from '../../core/text/bytes.ts';
import { limits } from '../../core/limits/limits.ts';
import { isRecord, tryParse } from '../../core/json/wire-value.ts';
import { shortDescription } from '../injected-tools.ts';
import { signatureText } from '../../core/schema/short-schema.ts';
import type { FileSystem } from '../../ports/file-system.ts';
import type { InnerCalls, InnerTool } from '../../ports/inner-calls.ts';

type Output = { stdout: string; stderr: string; exitCode: number };

export type ToolCommandParts = {
  calls: InnerCalls | null;
  /** The script's files. */
  files: FileSystem;
  /** The request that the script has already sent and would send again if it were rerun, or null. */
  sent(): string | null;
  /** Runs a call while the script's own timer is paused: the call has a separate timeout. */
  during<Value>(work: Promise<Value>): Promise<Value>;
  /** Ends the script, because a call waits for a decision or a client. */
  suspend(): void;
};

export function createToolCommand(parts: ToolCommandParts): Command {
  return defineCommand('tool', async (args, { stdin }) => {
    const { calls } = parts;
    if (calls === null) return failed('no other tools can be called in this context.', 1);
    const [name, ...rest] = args;
    if (name === undefined || name === '--help' || name === '-h') return rest[0] === undefined ? usage(calls) : help(calls, rest[0]);
    if (name === '--list') return printed(calls.tools.map(line).join('\n'));
    if (name === '--find' || (name === 'find' && lookUp(calls, 'find') === null)) return find(calls, rest);
    if (rest.includes('--help')) return help(calls, name);
    const asked = readArguments(rest, decode(stdin), lookUp(calls, name));
    if (typeof asked === 'string') return failed(asked, 2);
    const sent = parts.sent();
    if (sent !== null)
      return failed(
        `not called: this script has already sent ${sent}, and would send it again if this call had to wait for approval. Call tools before sending, use a separate script, or send with \`tool http_request\`.`,
        1,
      );
    return await call(parts, calls, name, asked);
  });
}

async function call({ files, during, suspend }: ToolCommandParts, calls: InnerCalls, name: string, asked: Asked): Promise<Output> {
  const answer = await during(calls.call(name, asked.arguments, { files }));
  if (answer.waits) {
    suspend();
    return failed('waits', 130);
  }
  const { success, output, error = '', code, structured } = toCodeCallResult(answer.result, answer.output);
  const text = asked.structured ? JSON.stringify(structured ?? output) : output;
  if (success) return printed(text);
  const exitCode = code === 'unknown_tool' || code === 'ambiguous_tool' ? 127 : 1;
  return { stdout: asked.structured && structured !== undefined ? `${text}\n` : '', stderr: withEnd(error), exitCode };
}

type Asked = { arguments: Record<string, unknown>; structured: boolean };

/**
 * Reads `--json TEXT` and `key=value` arguments; `key=value` takes precedence. Without both, reads stdin. Returns an error message as a
 * string.
 */
function readArguments(args: readonly string[], stdin: string, tool: InnerTool | null): Asked | string {
  let structured = false;
  let json: string | null = null;
  const pairs: string[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? '';
    if (arg === '--structured') structured = true;
    else if (arg === '--json') {
      json = args[index + 1] ?? '';
      index += 1;
    } else if (arg.startsWith('--json=')) json = arg.slice('--json='.length);
    else if (/^[^=-][^=]*=/.test(arg)) pairs.push(arg);
    else return `"${arg.slice(0, 80)}" is not a valid argument: give arguments as --json '{"key": …}' or as key=value.`;
  }
  if (json === null && pairs.length === 0 && stdin.trim() !== '') json = stdin;
  const base = json === null ? {} : tryParse(json);
  if (!isRecord(base)) return `the arguments are not a JSON object: ${(json ?? '').slice(0, 80)}`;
  const found = new Map(Object.entries(base));
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    const key = pair.slice(0, at);
    const value = readValue(pair.slice(at + 1), propertyOf(tool, key));
    if (value === undefined) return `${key}: ${pair.slice(at + 1, at + 81)} is not ${String(propertyOf(tool, key)?.type)}.`;
    found.set(key, value);
  }
  return { arguments: Object.fromEntries(found), structured };
}

/** Converts a value according to its schema: text if the schema allows a string, otherwise JSON. undefined: not of a declared type. */
function readValue(text: string, schema: Record<string, unknown> | null): unknown {
  const types = [schema?.type].flat().filter((type) => type !== undefined);
  if (types.length === 0 ? schema === null || Array.isArray(schema.enum) : types.includes('string')) return text;
  // Without a declared type the value may be text; with another type it is an error.
  const value = tryParse(text);
  return value === undefined && types.length === 0 ? text : value;
}

function propertyOf(tool: InnerTool | null, key: string): Record<string, unknown> | null {
  const properties = tool?.inputSchema.properties;
  const property = isRecord(properties) && Object.hasOwn(properties, key) ? properties[key] : null;
  return isRecord(property) ? property : null;
}

/** For help output only; calls are resolved in `engine/call/call-tool.ts`. */
function lookUp({ tools }: InnerCalls, name: string): InnerTool | null {
  const wanted = fold(name);
  const isIt = (tool: InnerTool): boolean => [tool.name, tool.canonical, ...tool.aliases].some((spelling) => fold(spelling) === wanted);
  return tools.find((tool) => tool.name === name) ?? tools.find(isIt) ?? null;
}

function usage({ tools }: InnerCalls): Output {
  return printed(
    [
      'tool <name> --json \'{"key": …}\'   call a tool; also key=value …, or the JSON on stdin; --structured prints its structured result',
      'tool --list                        list all tools',
      'tool find <words>                  search for tools',
      'tool --help <name>                 show description and arguments',
      `${tools.length} tools are available.`,
    ].join('\n'),
  );
}

function help(calls: InnerCalls, name: string): Output {
  const tool = lookUp(calls, name);
  if (tool === null) return failed(`unknown tool "${name.slice(0, 80)}"; run tool --list to see all.`, 127);
  const others = tool.aliases.filter((alias) => alias !== tool.name);
  const also = others.length === 0 ? '' : ` (aliases: ${others.join(', ')})`;
  const schema = JSON.stringify(tool.inputSchema);
  const shown =
    schema.length <= limits.maxFoundArgumentsLength * 4 ? schema : signatureText(tool.inputSchema, limits.maxFoundArgumentsLength);
  return printed(`${tool.name}${also}, ${tool.canonical}\n${tool.description}\narguments: ${shown}`);
}

/** Prints tools that contain most of the words first; a match in the name counts more than one in the description. */
function find(calls: InnerCalls, words: readonly string[]): Output {
  const wanted = words.map((word) => word.toLowerCase()).filter((word) => word !== '');
  if (wanted.length === 0) return failed('find: give words to search for.', 2);
  const scored = calls.tools.map((tool) => {
    const name = [tool.name, tool.canonical, ...tool.aliases].join(' ').toLowerCase();
    const description = tool.description.toLowerCase();
    const score = wanted.reduce((sum, word) => sum + (name.includes(word) ? 2 : description.includes(word) ? 1 : 0), 0);
    return { tool, score };
  });
  const found = scored.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
  if (found.length === 0) return failed(`find: none of the ${calls.tools.length} tools matches; run tool --list to see all.`, 1);
  return printed(
    found
      .slice(0, limits.maxListedFiles)
      .map(({ tool }) => line(tool))
      .join('\n'),
  );
}

function line({ name, description }: InnerTool): string {
  return `${name}\t${shortDescription(description)}`;
}

/** The interpreter passes bytes as one character each. */
function decode(stdin: CommandContext['stdin']): string {
  return new TextDecoder().decode(toLatin1(String(stdin)));
}

function printed(text: string): Output {
  return { stdout: withEnd(text), stderr: '', exitCode: 0 };
}

function failed(message: string, exitCode: number): Output {
  return { stdout: '', stderr: `tool: ${message}\n`, exitCode };
}

function withEnd(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
