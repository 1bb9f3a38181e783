/**
 * A tool as every source describes it (built-in, local, MCP, OpenAPI …), before any toolset gives it names, and the result of a call.
 * `alias-map.ts` decides the names that a model sees; `ports/tool-executor.ts` runs tools.
 */
import * as z from 'zod';
import type { CanonicalName } from '../names/names.ts';
import type { Issue } from '../problem.ts';
import type { Repair } from './argument-repair.ts';
import type { Hold } from './hold.ts';
import type { ServerOperation } from './server-operation.ts';
import type { MadeSource } from './made-tool.ts';
import type { ToolsetAlias } from '../names/toolset-alias.ts';
import type { UiTool } from './ui-tool.ts';
import { canonicalJson, sha256Hex } from '../hash.ts';
import { limits } from '../limits/limits.ts';

/** A JSON Schema 2020-12 object schema, as data. External schemas contain keywords that we do not know, so the type stays open. */
export type JsonSchema = { [keyword: string]: unknown };

/** Returns the schema of a caller's input: fields with a default are optional, unknown fields are refused. */
export function toInputSchema(input: z.ZodObject): JsonSchema {
  const { $schema: _version, ...schema } = z.toJSONSchema(input, { io: 'input' });
  return { ...schema, additionalProperties: schema.additionalProperties ?? false };
}

/** Returns the schema of a built-in tool's output: no undeclared fields. */
export function toOutputSchema(output: z.ZodObject): JsonSchema {
  const { $schema: _version, ...schema } = z.toJSONSchema(output, { io: 'output' });
  return schema;
}

export const ToolKind = z.enum(['builtin', 'local', 'mcp', 'openapi', 'static', 'made', 'client', 'ui']);
export type ToolKind = z.infer<typeof ToolKind>;

/** Whether a server lists tools of the kind and runs them, at a known address. */
export function isServerKind(kind: ToolKind): boolean {
  return kind === 'static' || kind === 'mcp' || kind === 'openapi';
}

/** MCP's tool annotations (2026-07-28, `ToolAnnotations`): hints, never trusted for permissions. */
export const ToolAnnotations = z
  .object({
    title: z.string().optional(),
    readOnlyHint: z.boolean().optional(),
    destructiveHint: z.boolean().optional(),
    idempotentHint: z.boolean().optional(),
    openWorldHint: z.boolean().optional(),
  })
  .meta({ id: 'ToolAnnotations' });
export type ToolAnnotations = z.infer<typeof ToolAnnotations>;

export type ToolDefinition = {
  canonical: CanonicalName;
  server: string;
  /** The tool's own name, as given by its source. */
  name: string;
  kind: ToolKind;
  description: string;
  inputSchema: JsonSchema;
  outputSchema?: JsonSchema;
  annotations?: ToolAnnotations;
  /** Default aliases, inherited by toolset entries that set no aliases. */
  aliases: readonly ToolsetAlias[];
  /** Of a tool in code: earlier names of arguments, each with the current one (`code-tools.ts`). */
  renamed?: Readonly<Record<string, string>>;
  /** For a server's tool. Absent: the tool is part of this code base and always ready. */
  source?: ToolSource;
  /** For a tool of an MCP server. */
  presentation?: ToolPresentation;
  /** For a UI tool. */
  ui?: UiTool;
  /** For a made tool. */
  made?: MadeSource;
};

/**
 * The definition that a tool declares, as in MCP's `tools/list`: what a server lists, a pin covers, and an administrator accepts.
 * `operation`: for an OpenAPI server, how to call it.
 */
export type BareDefinition = Pick<ToolDefinition, 'name' | 'description' | 'inputSchema' | 'outputSchema' | 'annotations'> & {
  operation?: ServerOperation;
  /** The default aliases that the listing names. Other default aliases are no part of the definition. */
  listedAliases?: readonly ToolsetAlias[];
};

/**
 * What an MCP server lists of a tool for MCP clients (2026-07-28, `Tool`): never sent to models, and not covered by the pin. `meta`: also
 * the page of an MCP app (`ui.resourceUri`).
 */
export type ToolPresentation = {
  title?: string;
  icons?: z.infer<typeof Icons>;
  execution?: Record<string, unknown>;
  meta?: Record<string, unknown>;
  /** Annotations that are not hints of MCP, and other members of the tool. */
  annotations?: Record<string, unknown>;
  others?: Record<string, unknown>;
};

/** Returns the definition without the other known fields of the tool. */
export function bareDefinition(definition: BareDefinition): BareDefinition {
  const { name, description, inputSchema, outputSchema, annotations, operation, listedAliases } = definition;
  return {
    name,
    description,
    inputSchema,
    ...(outputSchema && { outputSchema }),
    ...(annotations && { annotations }),
    ...(operation && { operation }),
    ...(listedAliases && { listedAliases }),
  };
}

/** The state of a tool at its server. `instructions`: those of the server, if they are sent to models. */
export type ToolSource = {
  state: 'ready' | 'held' | 'missing';
  trusted: boolean;
  /** An administrator accepted the annotations of the current definition. */
  annotationsAccepted?: true;
  /** The pin of the definition, stored so that it need not be computed again. */
  pin: string;
  held?: Hold;
  renamedTo?: string;
  instructions?: string;
};

/** For clients: the audience and priority of a block (MCP `Annotations`), and `_meta`, which models do not get. */
const Members = z.record(z.string(), z.unknown()).optional();
const common = { annotations: Members, _meta: Members };

/** MCP `Icon`s. Invalid ones are dropped, since they do not affect what they illustrate. */
export const Icons = z
  .array(
    z.object({
      src: z.string().max(limits.maxIconLength),
      mimeType: z.string().max(100).optional(),
      sizes: z.array(z.string().max(20)).max(10).optional(),
      theme: z.enum(['light', 'dark']).optional(),
    }),
  )
  .max(10)
  .optional()
  .catch(undefined);

/** Returns the icons that contain their image: for others, a client would send a request to any URL that the server names. undefined: none. */
export function inlineIcons(icons: z.infer<typeof Icons>): z.infer<typeof Icons> {
  const inline = icons?.filter(({ src }) => src.startsWith('data:image/')) ?? [];
  return inline.length === 0 ? undefined : inline;
}

/**
 * MCP content blocks (2026-07-28), which every tool result consists of. Unknown members are for clients. `other`: a block of a type that is
 * not known here, or without a member that its type requires; MCP clients get its `block`.
 */
export const ContentBlock = z
  .discriminatedUnion('type', [
    z.looseObject({ type: z.literal('text'), text: z.string(), ...common }),
    z.looseObject({ type: z.literal('image'), data: z.string(), mimeType: z.string(), ...common }),
    z.looseObject({ type: z.literal('audio'), data: z.string(), mimeType: z.string(), ...common }),
    z.looseObject({
      type: z.literal('resource_link'),
      uri: z.string(),
      name: z.string(),
      title: z.string().optional(),
      description: z.string().optional(),
      mimeType: z.string().optional(),
      size: z.number().optional(),
      icons: Icons,
      ...common,
    }),
    z.looseObject({
      type: z.literal('resource'),
      resource: z.looseObject({
        uri: z.string(),
        mimeType: z.string().optional(),
        text: z.string().optional(),
        blob: z.string().optional(),
        _meta: Members,
      }),
      ...common,
    }),
    z.object({ type: z.literal('other'), block: z.record(z.string(), z.unknown()), ...common }),
  ])
  .meta({ id: 'ContentBlock' });
export type ContentBlock = z.infer<typeof ContentBlock>;

/** Why a call has no ordinary result. All of these are results that the model reads; none ends a turn. */
export const ToolResultCode = z
  .enum([
    'unknown_tool',
    'ambiguous_tool',
    'not_allowed',
    'tool_held',
    'invalid_json',
    'truncated',
    'invalid_arguments',
    'approval_required',
    'connection_required',
    'denied',
    'guard_denied',
    'result_withheld',
    'timeout',
    'tool_error',
    'aborted',
    'outcome_unknown',
    'limit_reached',
  ])
  .meta({ id: 'ToolResultCode' });
export type ToolResultCode = z.infer<typeof ToolResultCode>;

/** Which of several targets a call ran on, and whether its result was stored before. */
export const ServedBy = z
  .object({
    tool: z.string().meta({ description: 'Canonical name of the tool that ran, or whose stored result this is.' }),
    cachedSeconds: z.int().optional().meta({ description: 'The age of the stored result that was given; absent: the tool ran.' }),
    tried: z
      .array(z.object({ tool: z.string(), code: ToolResultCode.nullable() }))
      .optional()
      .meta({ description: 'The targets that could not be called before, and how each ended.' }),
  })
  .meta({ id: 'ServedBy', example: { tool: 'github-backup.search', tried: [{ tool: 'github.search', code: 'tool_error' }] } });
export type ServedBy = z.infer<typeof ServedBy>;

export type ToolResult = {
  isError: boolean;
  code?: ToolResultCode;
  content: ContentBlock[];
  /** Any JSON value since 2026-07-28, an object before. */
  structuredContent?: unknown;
  /** With `invalid_arguments`: every error with its path. Also contained in the text. */
  issues?: Issue[];
  /** The arguments that did not fit the tool's schema and were repaired before the tool ran. */
  repaired?: Repair[];
  /** Of an entry with several targets, or of a stored result. */
  served?: ServedBy;
  /** `_meta` of the server's result, for clients. */
  meta?: Record<string, unknown>;
  /** The JSON-RPC error with which an MCP server rejected the call, for MCP clients. */
  protocolError?: ProtocolFault;
};

/** A JSON-RPC error of a server: `data` is external. */
export type ProtocolFault = { code: number; message: string; data?: unknown };

export function textResult(text: string): ToolResult {
  return { isError: false, content: [{ type: 'text', text }] };
}

/** Returns a failed call as the model reads it: `message` says what went wrong and what to do next. */
export function errorResult(code: ToolResultCode, message: string, issues?: Issue[]): ToolResult {
  return { isError: true, code, content: [{ type: 'text', text: message }], ...(issues && { issues }) };
}

/**
 * Returns the content of a result for an API without a field for failures: a failure says in its text that it is one, since models treat it
 * differently from the same text of a success (maximhq/bifrost#5450; the same form in sgl-project/sglang#32610).
 */
export function markedContent({ isError, content }: Pick<ToolResult, 'isError' | 'content'>): readonly ContentBlock[] {
  const [first, ...rest] = content;
  if (!isError) return content;
  if (first?.type !== 'text') return [{ type: 'text', text: 'Error: the tool failed.' }, ...content];
  return /^\W{0,3}error\b/i.test(first.text) ? content : [{ ...first, text: `Error: ${first.text || 'the tool failed.'}` }, ...rest];
}

/** Returns the text of a result, for dialects and providers that accept only text. Other blocks are named, not silently dropped. */
export function contentText(content: readonly ContentBlock[]): string {
  return content.map(blockText).join('\n');
}

function blockText(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
    case 'audio':
      return `[${block.type}: ${block.mimeType}]`;
    case 'resource_link':
      return `[link: ${block.name} ${block.uri}]`;
    case 'resource':
      return block.resource.text ?? `[resource: ${block.resource.uri}]`;
    case 'other':
      return `[A content block was left out: its type ${JSON.stringify(block.block.type)} is not supported, or it is incomplete.]`;
    default:
      return block satisfies never;
  }
}

/** The pin of a known tool; the stored one if the tool has it. */
export async function toolPin(definition: ToolDefinition): Promise<string> {
  return definition.source?.pin ?? (await definitionPin(definition));
}

/** Returns the SHA-256 of the raw definition. An upstream change of anything that it covers requires a review. */
export async function definitionPin(definition: BareDefinition): Promise<string> {
  return await sha256Hex(canonicalJson(bareDefinition(definition)));
}
