/**
 * The toolset document as its administrator writes it (DESIGN §4). What a model sees is compiled from it into an
 * edition (`edition.ts`); nothing on a call's way reads this document.
 */
import { z } from 'zod';
import { limits } from './limits.ts';

export const AliasMode = z.enum(['announced', 'function', 'hidden', 'deprecated']).meta({ id: 'AliasMode' });
export type AliasMode = z.infer<typeof AliasMode>;

/** A bare string is an announced alias. */
export const ToolsetAlias = z
  .union([z.string(), z.strictObject({ name: z.string(), mode: AliasMode.default('announced'), note: z.string().max(limits.maxNoteBytes).optional() })])
  .meta({ id: 'ToolsetAlias' });
export type ToolsetAlias = z.infer<typeof ToolsetAlias>;

export const ToolsetEntry = z
  .strictObject({
    tool: z.string().min(1).max(192).meta({ description: 'Canonical name.', example: 'builtin.bash' }),
    name: z.string().optional().meta({ description: 'Wire name: what the model sees.', example: 'shell' }),
    aliases: z.array(ToolsetAlias).max(limits.maxAliasesPerEntry).optional(),
    description: z.string().min(1).optional(),
    notes: z
      .array(z.strictObject({ name: z.string().min(1).max(50), note: z.string().min(1).max(limits.maxNoteBytes) }))
      .max(limits.maxNotesPerEntry)
      .optional(),
  })
  .meta({ id: 'ToolsetEntry' });
export type ToolsetEntry = z.infer<typeof ToolsetEntry>;

export const ToolsetName = z.string().regex(/^[a-z0-9]([a-z0-9-]{0,48}[a-z0-9])?$/);

export const Announce = z.enum(['prompt', 'description', 'none']);
export type Announce = z.infer<typeof Announce>;

export const Toolset = z
  .strictObject({
    name: ToolsetName.optional().meta({ description: 'If given, equals the name in the path.' }),
    description: z.string().optional(),
    announce: Announce.default('prompt'),
    tools: z.array(ToolsetEntry).min(1).max(limits.maxToolsetEntries),
  })
  .meta({ id: 'Toolset' });
export type Toolset = z.infer<typeof Toolset>;
