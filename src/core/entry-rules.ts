/**
 * What a toolset entry says of a tool's arguments and results, as its administrator writes it (DESIGN §4). What a model is shown
 * because of it, and what the tool is sent, is `entry-arguments.ts`; what is shown of a result is `entry-result.ts`.
 */
import { z } from 'zod';
import { limits } from './limits.ts';
import { isObjectMember } from './reserved-names.ts';

/** A property of the tool's input schema, at its root. Our own tables have no prototype; those of readers on the way may. */
const ArgumentName = z
  .string()
  .min(1)
  .max(128)
  .refine((name) => !isObjectMember(name), { message: 'is a member of every JavaScript object, and cannot be named here' });

/** `{secret}`: of the workspace's secrets, put in when the call is sent and nowhere before. `{caller}`: of the key that calls. Who may write the first: `engine/write-toolset.ts`. */
export const PresetValue = z
  .union([
    z.strictObject({ secret: z.string().min(1).max(128) }),
    z.strictObject({ caller: z.string().min(1).max(50) }),
    z.strictObject({ value: z.json() }),
    z.json(),
  ])
  .meta({
    id: 'PresetValue',
    description:
      'A value; `{"secret": "NAME"}`; `{"caller": "field"}`, a field of the key that calls (`key`, `workspace`, or one it was made with); ' +
      'or `{"value": …}` for an object that would read like one of these.',
  });
export type PresetValue = z.infer<typeof PresetValue>;

export const EntryArguments = z
  .strictObject({
    preset: z.record(ArgumentName, PresetValue).optional().meta({
      description: 'By the tool’s own argument name: fixed, gone from the schema, and not to be overridden.',
    }),
    rename: z.record(ArgumentName, ArgumentName).optional().meta({ description: 'Shown name → the tool’s own argument name.' }),
    default: z.record(ArgumentName, z.json()).optional().meta({
      description: 'By the tool’s own argument name: used where a call leaves it out, which it then may.',
    }),
  })
  .meta({
    id: 'EntryArguments',
    example: { preset: { method: 'get_workflow', token: { secret: 'GH' } }, rename: { id: 'resource_id' }, default: { per_page: 20 } },
  });
export type EntryArguments = z.infer<typeof EntryArguments>;

/** RFC 6901: '' is the whole value. */
export const JsonPointer = z
  .string()
  .max(1_024)
  .regex(/^(?:\/(?:[^~/]|~[01])*)*$/, { message: 'must be a JSON Pointer, such as /items/0/name' });

export const EntryResult = z
  .strictObject({
    maxBytes: z
      .int()
      .min(256)
      .max(limits.maxResultBytes)
      .optional()
      .meta({ description: 'Shown of a result; the rest by `fetch_result`.' }),
    pick: z.array(JsonPointer).min(1).max(limits.maxPicks).optional().meta({
      description: 'JSON Pointers into the structured result, or into its text where that is JSON: only these are shown.',
    }),
  })
  .meta({ id: 'EntryResult' });
export type EntryResult = z.infer<typeof EntryResult>;
