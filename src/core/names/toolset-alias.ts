/** An alias of a tool as a toolset's administrator writes it (contract §3.2). `names.ts` decides which spellings are legal. */
import * as z from 'zod';
import { limits } from '../limits/limits.ts';
import { boundedText } from '../text/bounded-text.ts';

export const AliasMode = z.enum(['announced', 'function', 'hidden', 'deprecated']).meta({
  id: 'AliasMode',
  description:
    '`announced`: callable and announced to the model. `function`: also sent as a separate definition (“Alias for …”). `hidden`: callable, never shown. ' +
    '`deprecated`: callable, never shown, and the result of a call includes the note.',
});
export type AliasMode = z.infer<typeof AliasMode>;

const AliasName = z.string().meta({ description: '`^[a-z][a-z0-9_-]{1,63}$`', example: 'shell' });

/** A plain string is an announced alias. */
export const ToolsetAlias = z
  .union([
    AliasName,
    z.strictObject({ name: AliasName, mode: AliasMode.default('announced'), note: boundedText(limits.maxNoteBytes).min(1).optional() }),
  ])
  .meta({ id: 'ToolsetAlias' });
export type ToolsetAlias = z.infer<typeof ToolsetAlias>;

export function aliasName(alias: ToolsetAlias): string {
  return typeof alias === 'string' ? alias : alias.name;
}
