/**
 * The toolset document as its administrator writes it (contract §4). `edition.ts` compiles it into an edition, which is what calls use.
 * This file defines the shape; the compiler, which knows all entries and tools, decides which names are legal and free.
 */
import { ToolsetAlias } from '../names/toolset-alias.ts';
import { boundedText } from '../text/bounded-text.ts';
import * as z from 'zod';
import { JsonValue } from '../json/wire-value.ts';
import { limits } from '../limits/limits.ts';
import { isObjectMember } from '../names/reserved-names.ts';
import { ApprovalRule } from './approval-rule.ts';
import { EntryCache, EntryTool, TargetChoice, targetFaults, toolOf } from './entries/entry-targets.ts';
import { PromptEntry, ResourceEntry } from './offer-entry.ts';
import { ToolPrice } from '../tools/tool-price.ts';

const description = boundedText(limits.maxDescriptionBytes).min(1);

// The rules of an entry for the arguments and results of a tool. `entry-arguments.ts` applies the argument rules; `entry-result.ts`
// applies the result rules.

/** Pointers of one result. */
export const maxPicks = 50;

/** A root property of the tool's input schema. Our own tables have no prototype, but those of other readers may. */
const ArgumentName = z
  .string()
  .min(1)
  .max(128)
  .refine((name) => !isObjectMember(name), { message: 'is a member of every JavaScript object and cannot be used here' });

/**
 * `{secret}`: a secret of the workspace, inserted only when the call is sent. `{caller}`: a field of the calling key.
 * `engine/configuration/write-toolset.ts` checks who may write a secret.
 */
export const PresetValue = z
  .union([
    z.strictObject({ secret: z.string().min(1).max(128) }),
    z.strictObject({ caller: z.string().min(1).max(50) }),
    z.strictObject({ value: JsonValue }),
    JsonValue,
  ])
  .meta({
    id: 'PresetValue',
    description:
      'A value; `{"secret": "NAME"}`; `{"caller": "field"}`, a field of the calling key (`key`, `workspace`, `role` of a person, or a field set when the key was created); ' +
      'or `{"value": …}` for a literal object that has one of these forms.',
  });
export type PresetValue = z.infer<typeof PresetValue>;

/** A plain string is a hidden alias: the schema shows the argument already. */
const ArgumentAlias = z
  .union([
    ArgumentName,
    z.strictObject({
      argument: ArgumentName,
      mode: z.enum(['announced', 'hidden', 'deprecated']).default('hidden').meta({
        description:
          '`announced`: the description of the argument names it. `hidden`: accepted, never shown. `deprecated`: accepted, never shown, and the result includes the note.',
      }),
      note: boundedText(limits.maxNoteBytes).min(1).optional(),
    }),
  ])
  .meta({ id: 'ArgumentAlias', example: { argument: 'path', mode: 'deprecated', note: 'use path' } });

export const EntryArguments = z
  .strictObject({
    preset: z.record(ArgumentName, PresetValue).optional().meta({
      description:
        'Fixed values by the tool’s own argument name. Preset arguments are removed from the schema, and calls cannot override them.',
    }),
    rename: z.record(ArgumentName, ArgumentName).optional().meta({ description: 'Shown name → the tool’s own argument name.' }),
    default: z.record(ArgumentName, JsonValue).optional().meta({
      description:
        'Default values by the tool’s own argument name, used if a call leaves the argument out. Such arguments become optional.',
    }),
    alias: z.record(ArgumentName, ArgumentAlias).optional().meta({
      description:
        'Other names that calls may use → the tool’s own argument name, in any spelling. Never instead of a parameter that the tool has.',
    }),
  })
  .meta({
    id: 'EntryArguments',
    example: { preset: { method: 'get_workflow', token: { secret: 'GH' } }, rename: { id: 'resource_id' }, default: { per_page: 20 } },
  });
export type EntryArguments = z.infer<typeof EntryArguments>;

/** RFC 6901; '' is the whole value. */
export const JsonPointer = z
  .string()
  .max(1_024)
  .regex(/^(?:\/(?:[^~/]|~[01])*)*$/, { message: 'must be a JSON Pointer, such as /items/0/name' });

export const EntryResult = z
  .strictObject({
    maxBytes: z.int().min(256).max(limits.maxWholeResultBytes).optional().meta({
      description:
        'Maximum size of the shown text in bytes. Default: 65536 for models; REST and MCP clients get the whole result. `fetch_result` returns the rest.',
    }),
    pick: z.array(JsonPointer).min(1).max(maxPicks).optional().meta({
      description: 'JSON Pointers into the structured result, or into its text if that is JSON. Only these parts are shown.',
    }),
  })
  .meta({ id: 'EntryResult' });
export type EntryResult = z.infer<typeof EntryResult>;

/** Members of an entry that make no sense for all tools of a wildcard. */
const singleToolMembers = ['refId', 'name', 'aliases', 'description', 'arguments', 'standsFor'] as const;

/** `core/model/web-search.ts`. */
export const StandsFor = z.enum(['web_search']).meta({
  id: 'StandsFor',
  description:
    'The tool runs in place of the web search that a client declares, for models whose provider has none. One entry of a toolset; the tool takes a `query` and requires nothing else.',
});
export type StandsFor = z.infer<typeof StandsFor>;

export const ToolsetEntry = z
  .strictObject({
    tool: EntryTool.optional(),
    choose: TargetChoice.optional(),
    except: z.array(z.string().min(1).max(limits.maxCanonicalNameLength)).min(1).max(limits.maxToolsetEntries).optional().meta({
      description: 'With a wildcard: the tools to leave out, by own or canonical name, also as `<beginning>*`.',
    }),
    refId: z
      .string()
      .regex(/^[0-9a-f]{64}$/, { message: 'must be 64 hex digits, as GET /v1/tools shows them' })
      .optional()
      .meta({
        description:
          'Names the tool by the hash of its definition. Resolved when the toolset is written; the stored document contains `tool`.',
      }),
    name: z.string().optional().meta({
      description: 'Wire name, which the model sees. Default: the first announced alias of the entry, else the tool’s own name.',
      example: 'shell',
    }),
    aliases: z.array(ToolsetAlias).max(limits.maxAliasesPerEntry).optional().meta({
      description: 'Absent: the tool’s default aliases, none of which becomes the wire name. Empty: none.',
    }),
    description: description.optional().meta({ description: 'Replaces the tool’s own description.' }),
    notes: z
      .array(z.strictObject({ name: z.string().min(1).max(50), note: boundedText(limits.maxNoteBytes).min(1) }))
      .max(limits.maxNotesPerEntry)
      .optional()
      .meta({ description: 'Added below the description.' }),
    arguments: EntryArguments.optional(),
    result: EntryResult.optional(),
    approval: ApprovalRule.optional(),
    price: ToolPrice.optional(),
    cache: EntryCache.optional(),
    alwaysOffered: z
      .boolean()
      .optional()
      .meta({ description: 'Sends the definition from the first step on, even if other tools are loaded on demand.' }),
    standsFor: StandsFor.optional(),
  })
  .refine((entry) => entry.tool !== undefined || entry.refId !== undefined, { path: ['tool'], message: 'is missing: set tool or refId' })
  .superRefine((entry, context) => {
    for (const fault of targetFaults(entry)) context.addIssue({ code: 'custom', ...fault });
    const isForSeveral = toolOf(entry)?.endsWith('*') === true;
    const wrong = isForSeveral
      ? singleToolMembers.filter((member) => entry[member] !== undefined)
      : entry.except === undefined
        ? []
        : ['except'];
    const message = isForSeveral
      ? 'cannot be set for several tools; add an entry for the one tool'
      : 'needs a wildcard in tool, such as fs.*';
    for (const member of wrong) context.addIssue({ code: 'custom', path: [member], message });
  })
  .meta({ id: 'ToolsetEntry' });
export type ToolsetEntry = z.infer<typeof ToolsetEntry>;

export const ToolsetName = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9-]{0,48}[a-z0-9])?$/, { message: 'must be 1 to 50 of a-z, 0-9 and "-", with no "-" at either end' });

export const NamesMode = z.enum(['aliases', 'primary']).meta({
  id: 'NamesMode',
  description:
    'Wire names of entries without `name`. `aliases` (default): the first announced alias of the entry, else the tool’s own name. ' +
    '`primary`: the tool’s own name; all aliases are announced as `announce` says.',
});

export const Announce = z.enum(['prompt', 'description', 'none']).meta({
  id: 'Announce',
  description: 'How aliases are announced to the model: one block in the system prompt, a line in each description, or not at all.',
});
export type Announce = z.infer<typeof Announce>;

export const McpTools = z.enum(['list', 'search', 'code']).meta({
  id: 'McpTools',
  description:
    'What MCP clients of the toolset are listed. `list` (default): its tools. `search`: `find_tools`, `describe_tool` and `call_tool`. ' +
    '`code`: `run_code`, with declarations of the tools, and `find_tools` for those that are not declared.',
});
export type McpTools = z.infer<typeof McpTools>;

/** Names of another system: name → any name of a tool. */
export const NameMap = z
  .record(z.string().min(1).max(128), z.string().min(1).max(limits.maxCanonicalNameLength))
  .refine((map) => Object.keys(map).length <= limits.maxNameMapEntries, { message: `must have at most ${limits.maxNameMapEntries} names` })
  .meta({ example: { flashcards: 'create_flashcard', websearch: 'search' } });
export type NameMap = z.infer<typeof NameMap>;

export const Toolset = z
  .strictObject({
    name: ToolsetName.optional().meta({ description: 'Must equal the name in the path, if given.' }),
    description: description.optional(),
    announce: Announce.default('prompt'),
    names: NamesMode.optional(),
    nameMap: NameMap.optional().meta({
      description: 'Further names of the listed tools, as hidden aliases: name → any name of a tool in this toolset.',
    }),
    onDemandAbove: z
      .int()
      .min(0)
      .max(limits.maxToolsetEntries)
      .optional()
      .meta({
        description: `With more tools than this, the model gets \`find_tools\` and the definitions that it found. Default ${limits.defaultOnDemandAbove}.`,
      }),
    mcpTools: McpTools.optional(),
    tools: z.array(ToolsetEntry).min(1).max(limits.maxToolsetEntries),
    resources: z.array(ResourceEntry).max(limits.maxToolsetEntries).optional().meta({
      description:
        'The resources of MCP servers that MCP clients of this toolset can read. Absent: those that the trusted servers of its tools list. Empty: none.',
    }),
    prompts: z.array(PromptEntry).max(limits.maxToolsetEntries).optional().meta({
      description:
        'The prompts of MCP servers for MCP clients of this toolset. Absent: those that the trusted servers of its tools list. Empty: none.',
    }),
    skills: z
      .array(z.string().regex(/^[a-z0-9-]{1,64}$/, { message: 'must be the name of a skill' }))
      .max(limits.maxToolsetSkills)
      .optional()
      .meta({
        description:
          'Skills of this toolset. Its versions have their texts, with the names of its tools; MCP clients and turns with it get them.',
      }),
    dismissed: z
      .array(z.string().min(1).max(limits.maxToolNameLength))
      .max(limits.maxNameMapEntries)
      .optional()
      .meta({
        description:
          'Suggestions that are not to be made again (`GET …/suggestions`): a name, or `<tool>#<argument>`. They change nothing else.',
        example: ['Glob', 'fs.read_file#file_path'],
      }),
    revoked: z
      .array(
        z
          .string()
          .max(limits.maxCanonicalNameLength)
          .regex(/^[a-z][a-z0-9-]{0,31}\../, { message: 'must be a canonical name, such as github.delete_repo' }),
      )
      .max(limits.maxRevokedTools)
      .optional()
      .meta({
        description:
          'Canonical names of tools that no version of this toolset may call any more, not even in running turns and in sessions with an earlier version. Absent: those of the stored document. A list replaces them, so that `[]` gives all of them back.',
        example: ['github.delete_repo'],
      }),
  })
  .meta({
    id: 'Toolset',
    example: {
      announce: 'prompt',
      tools: [{ tool: 'builtin.bash', name: 'shell', aliases: ['bash', { name: 'terminal', mode: 'hidden' }] }],
    },
  });
export type Toolset = z.infer<typeof Toolset>;

// A reference to a toolset: its name, or one version of it (`support@3`), which never changes.

export const ToolsetReference = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9-]{0,48}[a-z0-9])?(@[1-9][0-9]{0,8})?$/, { message: 'must be <toolset> or <toolset>@<version>' })
  .meta({ id: 'ToolsetReference', description: 'A toolset, or one version of it.', example: 'demo' });

/** Splits a reference; without a version the newest is meant. Does not check whether a toolset can have the name; NaN is no version. */
export function readToolsetReference(reference: string): { name: string; version?: number } {
  const [name = '', ...rest] = reference.split('@');
  if (rest.length === 0) return { name };
  const version = rest.join('@');
  return { name, version: /^[1-9][0-9]{0,8}$/.test(version) ? Number(version) : Number.NaN };
}
