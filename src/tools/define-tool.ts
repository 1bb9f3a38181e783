/**
 * Defines a tool in code. Built-in and local tools both use it: a tool is one file and one line in `registry.ts`. Definitions are checked
 * when the module loads, so an invalid one fails the build, not a turn; their JSON Schemas are made at their first use.
 */
import * as z from 'zod';
import { type Issue, issuesOf } from '../core/problem.ts';
import { parseAlias, parseWireName } from '../core/names/names.ts';
import {
  errorResult,
  textResult,
  toInputSchema,
  toOutputSchema,
  type JsonSchema,
  type ToolAnnotations,
  type ToolResult,
} from '../core/tools/tool.ts';
import type { ToolContext, ToolOutcome as AnswerOrWait } from '../ports/tool-executor.ts';

type JsonValue = string | number | boolean | null | undefined | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/**
 * A `ToolResult` is returned unchanged. A string becomes the text of a result; other JSON its text, and an object also `structuredContent`.
 */
type ToolAnswer = JsonValue | ToolResult;

export type ToolSpec<Input extends z.ZodObject> = {
  /** Valid for every provider: letters, digits, `_`, `-`, at most 64 characters. */
  name: string;
  /** Default aliases: announced to models, and callable in addition to the name. */
  aliases?: readonly string[];
  /** What it does, when to use it, and what it returns. The model sees nothing else. */
  description: string;
  /** `.describe()` every field. Fields with `.default()` are optional for the caller. */
  input: Input;
  /** Earlier names of arguments, each with its current name. Calls, and rules of toolsets, that use them still work. */
  renamed?: Readonly<Record<string, string>>;
  /** Schema of `structuredContent`, including that of error results. */
  output?: z.ZodObject;
  annotations?: ToolAnnotations;
  /** Builds the result for invalid arguments. Default: `invalid_arguments` with every issue. */
  refuse?(issues: readonly Issue[]): ToolResult;
  /** Must be lower than the 30 s timeout of every call. */
  timeoutMs?: number;
  /** Whether the call can safely run twice with the same idempotency key. Default: derived from `readOnlyHint` and `idempotentHint`. */
  isSafe?(args: Record<string, unknown>): boolean;
  /** False: neither it nor what it calls works on `context.files`, which then are not loaded for it. Default true. */
  usesFiles?: false;
  /** Throw `ToolFault` for errors that the model should read. Any other error is also logged as an internal error. */
  run(args: z.infer<Input>, context: ToolContext): ToolAnswer | Promise<ToolAnswer>;
};

/** A checked tool, not yet bound to a server. */
export type DefinedTool = {
  name: string;
  aliases: readonly string[];
  description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema | undefined;
  annotations?: ToolAnnotations;
  renamed?: Readonly<Record<string, string>>;
  timeoutMs?: number;
  isSafe?(args: Record<string, unknown>): boolean;
  usesFiles: boolean;
  execute(args: Record<string, unknown>, context: ToolContext): Promise<AnswerOrWait>;
};

/** An expected failure, returned as a `tool_error` result. The message says what went wrong and what to do. */
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
  if (new Set(aliases).size < aliases.length) throw new Error(`defineTool ${spec.name}: duplicate alias`);
  if (spec.description.trim() === '') throw new Error(`defineTool ${spec.name}: a description is required`);
  if (!(spec.input instanceof z.ZodObject)) throw new Error(`defineTool ${spec.name}: input must be a z.object({…})`);
  for (const [earlier, current] of Object.entries(spec.renamed ?? {})) {
    if (!Object.hasOwn(spec.input.shape, earlier) && Object.hasOwn(spec.input.shape, current)) continue;
    throw new Error(
      `defineTool ${spec.name}: renamed maps names that are no arguments any more to those of arguments, not ${earlier} to ${current}`,
    );
  }

  let inputSchema: JsonSchema | undefined;
  let outputSchema: JsonSchema | undefined;
  return {
    name: spec.name,
    aliases,
    description: spec.description.trim(),
    get inputSchema() {
      inputSchema ??= toInputSchema(spec.input);
      return inputSchema;
    },
    get outputSchema() {
      if (spec.output !== undefined) outputSchema ??= toOutputSchema(spec.output);
      return outputSchema;
    },
    ...(spec.annotations && { annotations: spec.annotations }),
    ...(spec.renamed && { renamed: spec.renamed }),
    ...(spec.timeoutMs !== undefined && { timeoutMs: spec.timeoutMs }),
    ...(spec.isSafe !== undefined && { isSafe: spec.isSafe }),
    usesFiles: spec.usesFiles ?? true,
    async execute(args, context) {
      const parsed = await spec.input.safeParseAsync(args);
      if (!parsed.success) {
        const issues = issuesOf(parsed.error.issues, args);
        if (spec.refuse !== undefined) return spec.refuse(issues);
        const lines = issues.map((issue) => `- ${issue.path}: ${issue.message}`);
        return errorResult('invalid_arguments', `Not run: the arguments of ${spec.name} are invalid.\n${lines.join('\n')}`, issues);
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
