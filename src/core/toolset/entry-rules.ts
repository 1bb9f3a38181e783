/**
 * The rules of a toolset entry for the arguments and results of a tool, as its administrator writes them (contract §4).
 * `entry-arguments.ts` applies the argument rules; `entry-result.ts` applies the result rules.
 */
import { z } from 'zod';
import { limits } from '../limits.ts';
import { isObjectMember } from '../names/reserved-names.ts';

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
    z.strictObject({ value: z.json() }),
    z.json(),
  ])
  .meta({
    id: 'PresetValue',
    description:
      'A value; `{"secret": "NAME"}`; `{"caller": "field"}`, a field of the calling key (`key`, `workspace`, or a field set when the key was created); ' +
      'or `{"value": …}` for a literal object that has one of these forms.',
  });
export type PresetValue = z.infer<typeof PresetValue>;

export const EntryArguments = z
  .strictObject({
    preset: z.record(ArgumentName, PresetValue).optional().meta({
      description:
        'Fixed values by the tool’s own argument name. Preset arguments are removed from the schema, and calls cannot override them.',
    }),
    rename: z.record(ArgumentName, ArgumentName).optional().meta({ description: 'Shown name → the tool’s own argument name.' }),
    default: z.record(ArgumentName, z.json()).optional().meta({
      description:
        'Default values by the tool’s own argument name, used if a call leaves the argument out. Such arguments become optional.',
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
    maxBytes: z
      .int()
      .min(256)
      .max(limits.maxResultBytes)
      .optional()
      .meta({ description: 'Maximum size of the shown result in bytes; `fetch_result` returns the rest.' }),
    pick: z.array(JsonPointer).min(1).max(maxPicks).optional().meta({
      description: 'JSON Pointers into the structured result, or into its text if that is JSON. Only these parts are shown.',
    }),
  })
  .meta({ id: 'EntryResult' });
export type EntryResult = z.infer<typeof EntryResult>;
