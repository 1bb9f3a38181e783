/**
 * How a tool is written in code. Built-in and local tools use the same function; a tool is one file and one line in
 * `registry.ts`. Definitions are checked when the module loads, so a bad one stops the build, not a turn.
 */
import { z } from 'zod';
import { issuesOf } from '../core/issues.ts';
import type { Issue } from '../core/problem.ts';
import { parseAlias, parseWireName } from '../core/names.ts';
import {
  errorResult,
  textResult,
  toInputSchema,
  toOutputSchema,
  type JsonSchema,
  type ToolAnnotations,
  type ToolResult,
} from '../core/tool.ts';
import type { ToolContext, ToolAnswer as AnswerOrWait } from '../ports/tool-executor.ts';

type JsonValue = string | number | boolean | null | undefined | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** A `ToolResult` is taken as it is; a string becomes its text; other JSON its text, and an object `structuredContent` as well. */
type ToolAnswer = JsonValue | ToolResult;

export type ToolSpec<Input extends z.ZodObject> = {
  /** Legal with every provider: letters, digits, `_`, `-`, at most 64. */
  name: string;
  /** Default aliases: callable besides the name, and the first is what models are shown. */
  aliases?: readonly string[];
  /** What it does, when to use it, what it answers: the model reads nothing else. */
  description: string;
  /** `.describe()` every field. Fields with `.default()` need not be given. */
  input: Input;
  /** What `structuredContent` is, where it is declared: of errors as well. */
  output?: z.ZodObject;
  annotations?: ToolAnnotations;
  /** What bad arguments are answered with, where a tool has a form of its own for that. Absent: `invalid_arguments` with each fault. */
  refuse?(issues: readonly Issue[]): ToolResult;
  /** Lower than the 30 s that every call has. */
  timeoutMs?: number;
  /** True: a second run of this call with the same idempotency key does no harm. Absent: as `readOnlyHint` and `idempotentHint` say. */
  isSafe?(args: Record<string, unknown>): boolean;
  /** Faults that the model should read: throw `ToolFault`. Anything else that is thrown is logged as a fault of ours, too. */
  run(args: z.infer<Input>, context: ToolContext): ToolAnswer | Promise<ToolAnswer>;
};

/** A checked tool, without the server that it will belong to. */
export type DefinedTool = {
  name: string;
  aliases: readonly string[];
  description: string;
  inputSchema: JsonSchema;
  outputSchema?: JsonSchema;
  annotations?: ToolAnnotations;
  timeoutMs?: number;
  isSafe?(args: Record<string, unknown>): boolean;
  execute(args: Record<string, unknown>, context: ToolContext): Promise<AnswerOrWait>;
};

/** An expected failure: the message says what went wrong and what to do, and becomes a `tool_error` result. */
export class ToolFault extends Error {
  override name = 'ToolFault';
}

export function defineTool<Input extends z.ZodObject>(spec: ToolSpec<Input>): DefinedTool {
  const name = parseWireName(spec.name);
  if (!name.ok) throw new Error(`defineTool: ${name.reason}`);
  const aliases = (spec.aliases ?? []).map((alias) => {
    const parsed = parseAlias(alias);
    if (!parsed.ok) throw new Error(`defineTool ${spec.name}: ${parsed.reason}`);
    return parsed.alias;
  });
  if (new Set(aliases).size < aliases.length) throw new Error(`defineTool ${spec.name}: an alias is given twice`);
  if (spec.description.trim() === '') throw new Error(`defineTool ${spec.name}: a model needs a description`);
  if (!(spec.input instanceof z.ZodObject)) throw new Error(`defineTool ${spec.name}: input must be a z.object({…})`);

  return {
    name: spec.name,
    aliases,
    description: spec.description.trim(),
    inputSchema: toInputSchema(spec.input),
    ...(spec.output !== undefined && { outputSchema: toOutputSchema(spec.output) }),
    ...(spec.annotations && { annotations: spec.annotations }),
    ...(spec.timeoutMs !== undefined && { timeoutMs: spec.timeoutMs }),
    ...(spec.isSafe !== undefined && { isSafe: spec.isSafe }),
    async execute(args, context) {
      const parsed = await spec.input.safeParseAsync(args);
      if (!parsed.success) {
        const issues = issuesOf(parsed.error.issues, args);
        if (spec.refuse !== undefined) return spec.refuse(issues);
        const lines = issues.map((issue) => `- ${issue.path}: ${issue.message}`);
        return errorResult('invalid_arguments', `Not run: the arguments of ${spec.name} are not valid.\n${lines.join('\n')}`, issues);
      }
      return toResult(await spec.run(parsed.data, context));
    },
  };
}

function toResult(answer: ToolAnswer): ToolResult {
  if (isToolResult(answer)) return answer;
  if (typeof answer === 'string') return textResult(answer);
  const text = textResult(JSON.stringify(answer ?? null));
  return isJsonObject(answer) ? { ...text, structuredContent: answer } : text;
}

function isToolResult(answer: ToolAnswer): answer is ToolResult {
  return isJsonObject(answer) && typeof answer.isError === 'boolean' && Array.isArray(answer.content);
}

function isJsonObject(answer: ToolAnswer): answer is { [key: string]: JsonValue } {
  return typeof answer === 'object' && answer !== null && !Array.isArray(answer);
}
