/**
 * What each provider accepts of JSON Schema for a tool's input, as data. `schema-narrow.ts` (parts) and `schema-compiler.ts` (the root)
 * apply it, after all references were expanded and all keywords converted to 2020-12.
 *
 * - **full**: servers that pass the schema to a template or a grammar (vLLM, Ollama, llama.cpp, most of Chat Completions).
 * - **openai**: function calling without `strict`. "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'const'/
 *   'not' at the top level" (nspady/google-calendar-mcp#39, feigeCode/navop#247); "array schema missing items", also beside
 *   `prefixItems` (PrefectHQ/fastmcp#2464), and "object schema missing properties".
 * - **openai-strict**: Structured Outputs, "Supported schemas" (also learn.microsoft.com, "Structured outputs"): all objects closed and
 *   all fields required, no `oneOf`, `allOf`, `not`, `default`, string lengths or lookaround in patterns; each part with a type; ten
 *   levels. The only dialect that accepts less than the tool does, because fields with free names cannot be described.
 * - **anthropic**: Messages. "input_schema does not support oneOf, allOf, or anyOf at the top level" (anthropics/claude-code#5878), valid
 *   2020-12 (openclaw/openclaw#98588 lists what passes), "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'" at the top
 *   (beautyfree/appstore-connect-mcp#2).
 * - **anthropic-strict**: schemas that Claude enforces, of an answer or of a tool with `strict` (guide "Structured outputs", "JSON Schema
 *   limitations"): all objects closed, no bounds of numbers, lengths or list sizes, few formats.
 * - **gemini**: `parametersJsonSchema`. The keywords listed for `responseJsonSchema` (API reference, GenerationConfig) are used and
 *   all others silently ignored (vercel/ai#18325), so those are described in words instead.
 * - **gemini-openapi**: `parameters`, the `Schema` message. An unknown field is an error ("Cannot find field",
 *   pizza-bot-app/pizza-bot#62), `type` is one name (voocel/litellm#9), `enum` is for non-empty strings ("only allowed for
 *   STRING type", "cannot be empty", Bobsilvio/ha-claude#32), few formats are known (enechange/collmbo#195), `anyOf` stands alone
 *   (anomalyco/opencode#14659), `required` names known fields and arrays have items (Kilo-Org/kilocode#11955).
 * - **cohere**: v2 without `strict_tools`: the top-level type is `object` (docs, "Structured outputs", "Schema constraints"); the rest is
 *   passed to the model unchanged.
 * - **ollama**: `/api/chat` reads tools into structures with few keywords and loses the others (`ToolFunctionParameters` and `ToolProperty`,
 *   ollama/ollama: `api/types.go`), also `$ref` and `oneOf`.
 */
import type { SchemaDialect } from '../model/provider-profile.ts';

export type DialectRules = {
  /** Accepted keywords; null: all. Others are described in words where possible. */
  keywords: ReadonlySet<string> | null;
  /** `anyOf`, `oneOf` and `allOf` may be at the top level. */
  composedTop: boolean;
  /** `merged`: merged into one schema where that loses nothing; `apart`: `anyOf` is alone, and no other composition is accepted. */
  composition: 'any' | 'merged' | 'one' | 'apart';
  /** How null is expressed: as a type, or by OpenAPI's flag. */
  null: 'type' | 'flag';
  /** Values that `enum` may contain. */
  choices: 'any' | 'scalars' | 'strings';
  /** Formats of strings and numbers; null: any. */
  formats: ReadonlySet<string> | null;
  /** Patterns may use lookaround. */
  lookaround: boolean;
  /** Arrays must describe their items. */
  needsItems: boolean;
  /** Objects must describe their fields. */
  needsFields: boolean;
  /** Only described fields may be required. */
  needsKnownRequired: boolean;
  /** Every object is closed, and every field is required. */
  closed: boolean;
  /** Every object is closed. */
  sealed: boolean;
  /** Allowed field names at the top level; null: any. */
  fieldName: RegExp | null;
  maxDepth: number | null;
};

const words = ['type', 'title', 'description'];

const full: DialectRules = {
  keywords: null,
  composedTop: true,
  composition: 'any',
  null: 'type',
  choices: 'any',
  formats: null,
  lookaround: true,
  needsItems: false,
  needsFields: false,
  needsKnownRequired: false,
  closed: false,
  sealed: false,
  fieldName: null,
  maxDepth: null,
};

export const dialectRules: Readonly<Record<SchemaDialect, DialectRules>> = {
  full,
  openai: { ...full, composedTop: false, composition: 'merged', needsItems: true, needsFields: true },
  'openai-strict': {
    ...full,
    keywords: new Set([
      ...[...words, 'enum', 'anyOf', 'properties', 'required', 'additionalProperties', 'items', 'minItems', 'maxItems'],
      ...['pattern', 'format', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
    ]),
    composedTop: false,
    composition: 'apart',
    formats: new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid']),
    lookaround: false,
    needsItems: true,
    needsFields: true,
    needsKnownRequired: true,
    closed: true,
    maxDepth: 10,
  },
  'anthropic-strict': {
    ...full,
    keywords: new Set([...words, 'enum', 'const', 'anyOf', 'properties', 'required', 'additionalProperties', 'items', 'format', 'pattern']),
    composedTop: false,
    composition: 'one',
    choices: 'scalars',
    formats: new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid']),
    lookaround: false,
    needsFields: true,
    sealed: true,
    fieldName: /^[a-zA-Z0-9_.-]{1,64}$/,
  },
  anthropic: { ...full, composedTop: false, composition: 'merged', fieldName: /^[a-zA-Z0-9_.-]{1,64}$/ },
  gemini: {
    ...full,
    keywords: new Set([
      ...[...words, 'format', 'enum', 'items', 'prefixItems', 'minItems', 'maxItems', 'minimum', 'maximum', 'anyOf'],
      ...['properties', 'additionalProperties', 'required', 'propertyOrdering'],
    ]),
    composedTop: false,
    composition: 'one',
    choices: 'scalars',
  },
  'gemini-openapi': {
    ...full,
    keywords: new Set([
      ...[...words, 'format', 'nullable', 'enum', 'items', 'minItems', 'maxItems', 'minimum', 'maximum', 'anyOf', 'properties', 'required'],
      ...['minProperties', 'maxProperties', 'minLength', 'maxLength', 'pattern', 'propertyOrdering'],
    ]),
    composedTop: false,
    composition: 'apart',
    null: 'flag',
    choices: 'strings',
    formats: new Set(['date-time', 'float', 'double', 'int32', 'int64']),
    needsItems: true,
    needsKnownRequired: true,
  },
  cohere: { ...full, composedTop: false, composition: 'merged', needsItems: true, needsFields: true },
  ollama: {
    ...full,
    keywords: new Set(['type', 'description', 'enum', 'items', 'anyOf', 'properties', 'required']),
    composedTop: false,
    composition: 'one',
    needsFields: true,
  },
};
