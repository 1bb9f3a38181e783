/**
 * The toolset document as its administrator writes it (DESIGN §4). What a model sees is compiled from it into an
 * edition (`edition.ts`); nothing on a call's way reads this document. Here is its shape; which names are legal and free
 * is said by the compiler, which sees all entries and all tools.
 */
import { z } from 'zod';
import { EntryArguments, EntryResult } from './entry-rules.ts';
import { limits } from './limits.ts';
import { utf8Length } from './utf8.ts';

export const AliasMode = z.enum(['announced', 'function', 'hidden', 'deprecated']).meta({
  id: 'AliasMode',
  description:
    '`announced`: callable and told to the model. `function`: also sent as a definition of its own. `hidden`: callable, never shown. ' +
    '`deprecated`: callable, never shown, and a call is answered with the note.',
});
export type AliasMode = z.infer<typeof AliasMode>;

const description = z
  .string()
  .min(1)
  .max(limits.maxDescriptionBytes)
  .refine((text) => utf8Length(text) <= limits.maxDescriptionBytes, { message: `must be at most ${limits.maxDescriptionBytes} bytes` });

const AliasName = z.string().meta({ description: '`^[a-z][a-z0-9_-]{1,63}$`', example: 'shell' });

/** A bare string is an announced alias. */
export const ToolsetAlias = z
  .union([
    AliasName,
    z.strictObject({ name: AliasName, mode: AliasMode.default('announced'), note: z.string().min(1).max(limits.maxNoteBytes).optional() }),
  ])
  .meta({ id: 'ToolsetAlias' });
export type ToolsetAlias = z.infer<typeof ToolsetAlias>;

export const ApprovalRule = z.enum(['never', 'always', 'policy']).meta({
  id: 'ApprovalRule',
  description:
    'When a person is asked before a call runs. `policy` (default): when the workspace’s policy says so. `always`: every time. ' +
    '`never`: not at all, for calls of this entry only; writing it needs an unbound key with scope `admin`.',
});
export type ApprovalRule = z.infer<typeof ApprovalRule>;

export const ToolsetEntry = z
  .strictObject({
    tool: z.string().min(1).max(192).optional().meta({
      description: 'Canonical name. May be left out where `refId` is given.',
      example: 'builtin.bash',
    }),
    refId: z
      .string()
      .regex(/^[0-9a-f]{64}$/, { message: 'must be 64 hex digits, as GET /v1/tools shows them' })
      .optional()
      .meta({ description: 'Names the tool by its definition. Read when the toolset is written; the document keeps `tool`.' }),
    name: z.string().optional().meta({
      description: 'Wire name, what the model sees. Default: the first announced alias, else the tool’s own name.',
      example: 'shell',
    }),
    aliases: z.array(ToolsetAlias).max(limits.maxAliasesPerEntry).optional().meta({
      description: 'Absent: the tool’s default aliases. Empty: none.',
    }),
    description: description.optional().meta({ description: 'In place of the tool’s own.' }),
    notes: z
      .array(z.strictObject({ name: z.string().min(1).max(50), note: z.string().min(1).max(limits.maxNoteBytes) }))
      .max(limits.maxNotesPerEntry)
      .optional()
      .meta({ description: 'Added under the description.' }),
    arguments: EntryArguments.optional(),
    result: EntryResult.optional(),
    approval: ApprovalRule.optional(),
    alwaysOffered: z.boolean().optional().meta({ description: 'Its definition is sent also where the others are given on demand.' }),
  })
  .refine((entry) => entry.tool !== undefined || entry.refId !== undefined, { path: ['tool'], message: 'is missing: give tool, or refId' })
  .meta({ id: 'ToolsetEntry' });
export type ToolsetEntry = z.infer<typeof ToolsetEntry>;

export const ToolsetName = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9-]{0,48}[a-z0-9])?$/, { message: 'must be 1 to 50 of a-z, 0-9 and "-", with no "-" at either end' });

export const Announce = z.enum(['prompt', 'description', 'none']).meta({
  id: 'Announce',
  description: 'How aliases are told to the model: one block in the system prompt, a line in each description, or not at all.',
});
export type Announce = z.infer<typeof Announce>;

export const Toolset = z
  .strictObject({
    name: ToolsetName.optional().meta({ description: 'If given, equals the name in the path.' }),
    description: description.optional(),
    announce: Announce.default('prompt'),
    onDemandAbove: z
      .int()
      .min(0)
      .max(limits.maxToolsetEntries)
      .optional()
      .meta({
        description: `With more tools than this a model is given \`find_tools\`, and the definitions that it found. Default ${limits.defaultOnDemandAbove}.`,
      }),
    tools: z.array(ToolsetEntry).min(1).max(limits.maxToolsetEntries),
  })
  .meta({
    id: 'Toolset',
    example: {
      announce: 'prompt',
      tools: [{ tool: 'builtin.bash', name: 'shell', aliases: ['bash', { name: 'terminal', mode: 'hidden' }] }],
    },
  });
export type Toolset = z.infer<typeof Toolset>;
