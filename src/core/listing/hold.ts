/** Why a tool is held, and what a person is shown of it before accepting (DESIGN §4, pins). Who finds it out is the Catalog. */
import { z } from 'zod';

/** One difference of two definitions: a JSON Pointer into `{description, inputSchema, …}`. Absent `from`: added; absent `to`: removed. */
export const DefinitionChange = z
  .object({ path: z.string(), from: z.unknown().optional(), to: z.unknown().optional() })
  .meta({ id: 'DefinitionChange' });
export type DefinitionChange = z.infer<typeof DefinitionChange>;

/** Something in a definition that a person should see. `path`: a JSON Pointer into the definition. */
export const Finding = z.object({ finding: z.string(), path: z.string(), message: z.string() }).meta({ id: 'Finding' });
export type Finding = z.infer<typeof Finding>;

/**
 * Why nobody may call it until somebody accepts. `changed`: it was another one when it was accepted. `new`: its server listed it
 * later than the rest. `suspicious`: it speaks to the model of more than itself. `server`: its server calls itself something else now, as
 * `findings` say. `refId`: of the definition that would be accepted.
 */
export const Hold = z
  .object({
    reason: z.enum(['changed', 'new', 'suspicious', 'server']),
    refId: z.string(),
    changes: z.array(DefinitionChange),
    findings: z.array(Finding).optional(),
  })
  .meta({ id: 'Hold' });
export type Hold = z.infer<typeof Hold>;
