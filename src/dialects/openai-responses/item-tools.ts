/**
 * Tools of the Responses API that the client runs, and whose calls and results are items of their own: its shells, its patches and its search for
 * tools. Models of other APIs are offered functions, whose calls become those items again. Wire: guides "Local shell", "Shell", "Apply patch" and
 * "Tool search" of OpenAI's API, SDK 7.57; openai/codex `codex-rs/protocol/src/models.rs` and `codex-rs/tools/src/tool_spec.rs`.
 */
import { isRecord, type Json, listOf, recordOf, stringOf } from '../../core/json/wire-value.ts';
import type { ClientResult } from '../../core/model/message.ts';

type Arguments = Readonly<Record<string, unknown>>;

type ItemTool = {
  /** The field of a call that has its arguments. */
  field: 'action' | 'operation' | 'arguments';
  /** The type of its results. */
  output: string;
  description: string;
  parameters: Json;
  /** Returns the field of a call; null: the model's arguments do not fit it. */
  toField(given: Arguments): Json | null;
  /** Returns the text of a result. */
  text(item: Json): string;
};

const text = (description: string): Json => ({ type: 'string', description });
const texts = (description: string): Json => ({ type: 'array', items: { type: 'string' }, description });
const milliseconds = { type: 'integer', description: 'The time limit in milliseconds.' };
const schema = (required: readonly string[], properties: Json): Json => ({ type: 'object', properties, required });

/** By the type of the tool, which is also the name of its function; the type of a call is `<type>_call`. */
const itemTools: Readonly<Record<string, ItemTool>> = {
  local_shell: {
    field: 'action',
    output: 'local_shell_call_output',
    description: 'Runs a command on the user’s machine, and returns its output.',
    parameters: schema(['command'], {
      command: texts('The program and its arguments, such as ["bash", "-lc", "ls"].'),
      working_directory: text('The directory to run it in.'),
      timeout_ms: milliseconds,
      env: { type: 'object', additionalProperties: { type: 'string' }, description: 'Environment variables.' },
    }),
    toField: (given) => {
      const { command, env } = given;
      const words = typeof command === 'string' ? ['bash', '-lc', command] : textsOf(command);
      return words && { type: 'exec', ...given, command: words, env: recordOf(env) };
    },
    text: ({ output }) => textOf(output),
  },
  shell: {
    field: 'action',
    output: 'shell_call_output',
    description: 'Runs shell commands on the user’s machine, and returns the output and exit code of each.',
    parameters: schema(['commands'], {
      commands: texts('The commands, in order.'),
      timeout_ms: milliseconds,
      max_output_length: { type: 'integer', description: 'The most characters of output to return.' },
    }),
    toField: (given) => {
      const { commands } = given;
      const lines = typeof commands === 'string' ? [commands] : textsOf(commands);
      return lines && { timeout_ms: null, max_output_length: null, ...given, commands: lines };
    },
    text: ({ output }) => textOf(output),
  },
  apply_patch: {
    field: 'operation',
    output: 'apply_patch_call_output',
    description: 'Creates, updates or deletes one file of the user.',
    parameters: schema(['type', 'path'], {
      type: { type: 'string', enum: ['create_file', 'update_file', 'delete_file'] },
      path: text('The path of the file.'),
      diff: text(
        'Unless a file is deleted: the change as a V4A diff without file headers. Lines begin with a space, + or -; @@ begins a section; all lines of a new file begin with +.',
      ),
    }),
    toField: (given) => {
      const { type, path, diff } = given;
      const isChange = (type === 'create_file' || type === 'update_file') && typeof diff === 'string';
      return typeof path === 'string' && path !== '' && (isChange || type === 'delete_file') ? { ...given } : null;
    },
    text: ({ output, status }) => textOf(output) || stringOf(status),
  },
  tool_search: {
    field: 'arguments',
    output: 'tool_search_output',
    description: 'Searches for more tools, which can be called afterwards.',
    parameters: schema(['query'], { query: text('What to search for.') }),
    toField: (given) => ({ ...given }),
    text: ({ tools }) => JSON.stringify({ tools: namesIn(listOf(tools)) }),
  },
};

const typeOfCall = new Map(Object.keys(itemTools).map((type) => [`${type}_call`, type]));
const typeOfOutput = new Map(Object.entries(itemTools).map(([type, { output }]) => [output, type]));

/** Returns the tool as a function for models of any API; null for any other tool, and for one that the provider runs. */
export function toFunction<Tool extends { type: string }>(tool: Tool): (Tool & { name: string }) | null {
  const known = itemTools[tool.type];
  if (known === undefined || !isRunByClient(tool)) return null;
  const { description, parameters } = known;
  const { description: ownDescription, parameters: ownParameters } = tool as Json;
  return { ...tool, name: tool.type, description: ownDescription ?? description, parameters: ownParameters ?? parameters };
}

/** Returns whether the tool could be run by the client, and is not. */
export function isRunByProvider(tool: { type: string }): boolean {
  return itemTools[tool.type] !== undefined && !isRunByClient(tool);
}

/** Returns whether the item is a call or a result of such a tool, whoever runs it. */
export function isOfItemTool({ type }: Json): boolean {
  return typeOfCall.has(stringOf(type)) || typeOfOutput.has(stringOf(type));
}

/** The provider runs a shell in its container, and searches unless the client is to. */
function isRunByClient(tool: { type: string }): boolean {
  const { type, execution, environment } = tool as Json;
  if (type === 'tool_search') return execution === 'client';
  return !stringOf(recordOf(environment).type).startsWith('container');
}

/** Returns the item of a complete call without its ids; null: its arguments do not fit the tool. */
export function toCallItem(type: string, given: unknown): { type: string; [field: string]: unknown } | null {
  const known = itemTools[type];
  const value = known !== undefined && isRecord(given) ? known.toField(given) : null;
  if (known === undefined || value === null) return null;
  return { type: `${type}_call`, [known.field]: value, ...(type === 'tool_search' && { execution: 'client' }) };
}

/** Reads a call of the client's history. null: any other item, also a call that the provider has run. */
export function readItemCall(item: Json): { id: string; name: string; arguments: Arguments } | null {
  const name = typeOfCall.get(stringOf(item.type));
  const known = name === undefined ? undefined : itemTools[name];
  const id = idOf(item);
  if (name === undefined || known === undefined || id === '' || item.execution === 'server') return null;
  // As the model wrote them, without what only the item has: signatures of some models cover the arguments.
  const isOfItem = (field: string, value: unknown): boolean =>
    value === null || (name === 'local_shell' && (field === 'type' || (field === 'env' && isEmpty(value))));
  const given = Object.entries(recordOf(item[known.field])).filter(([field, value]) => !isOfItem(field, value));
  return { id, name, arguments: Object.fromEntries(given) };
}

function isEmpty(value: unknown): boolean {
  return isRecord(value) && Object.keys(value).length === 0;
}

/** Reads a result of the client's history. null as for calls. */
export function readItemResult(item: Json): ClientResult | null {
  const known = itemTools[typeOfOutput.get(stringOf(item.type)) ?? ''];
  const callId = idOf(item);
  if (known === undefined || callId === '' || item.execution === 'server') return null;
  return { callId, content: [{ type: 'text', text: known.text(item) }], isError: item.status === 'failed' };
}

/** The tools that items of the history have loaded, each with its path: by a search, or given as `additional_tools` (Codex). */
export function* toolsInItems(items: readonly unknown[]): Generator<{ tool: unknown; path: string }> {
  for (const [index, item] of items.entries()) {
    const { type, tools, execution } = recordOf(item);
    if (type !== 'additional_tools' && (type !== 'tool_search_output' || execution === 'server')) continue;
    for (const [at, tool] of listOf(tools).entries()) yield { tool, path: `input[${index}].tools[${at}]` };
  }
}

/** The name of a namespaced tool for models without namespaces. `functions` is the namespace of tools that have none. */
export function qualifiedName(namespace: string | null | undefined, name: string): string {
  return namespace == null || namespace === '' || namespace === 'functions' ? name : `${namespace}__${name}`;
}

function namesIn(tools: readonly unknown[], namespace?: string): Json[] {
  return tools.map(recordOf).flatMap((tool) => {
    if (tool.type === 'namespace') return namesIn(listOf(tool.tools), stringOf(tool.name));
    return [{ name: qualifiedName(namespace, stringOf(tool.name)), description: stringOf(tool.description) }];
  });
}

/** The results of a local shell have the id of their call in `id`. */
function idOf({ call_id: callId, id }: Json): string {
  return stringOf(callId) || stringOf(id);
}

function textsOf(value: unknown): string[] | null {
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : null;
}

function textOf(output: unknown): string {
  return typeof output === 'string' ? output : output == null ? '' : JSON.stringify(output);
}
