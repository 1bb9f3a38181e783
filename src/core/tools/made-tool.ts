/**
 * A made tool: JavaScript that a model or an administrator wrote over other tools (contract §7). It runs in the sandbox, where it can
 * only use `args`, `await tools.<name>(arguments)` and a console. This file defines the document; `MadeCode` (`edition-tool.ts`) is
 * the part stored in an edition.
 */
import { boundedText } from '../text/bounded-text.ts';
import * as z from 'zod';
import { JsonValue } from '../json/wire-value.ts';
import { limits } from '../limits/limits.ts';
import { Alias, CanonicalName } from '../names/names.ts';
import { canonicalJson, sha256Hex } from '../hash.ts';

/** `made.<name>`. */
export const MadeToolName = z
  .string()
  .regex(/^made\.[a-z][a-z0-9_-]{1,63}$/, { message: 'must be "made." and 2 to 64 of a-z, 0-9, "_" and "-", beginning with a letter' })
  .meta({ description: 'Canonical name.', example: 'made.find_and_replace' });

export const MadeParameter = z
  .strictObject({
    name: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/, { message: 'must be 1 to 64 of letters, digits and "_", not beginning with a digit' }),
    type: z.enum(['string', 'number', 'boolean', 'array', 'object']),
    description: boundedText(limits.maxDescriptionBytes).default(''),
    required: z.boolean().default(true).meta({ description: 'Has no effect if there is a default.' }),
    default: JsonValue.optional(),
  })
  .meta({ id: 'MadeParameter' });
export type MadeParameter = z.infer<typeof MadeParameter>;

export const MadeTool = z
  .strictObject({
    name: z.string().max(128).optional().meta({ description: 'Must equal the name in the path, with or without `made.`, if given.' }),
    description: boundedText(limits.maxDescriptionBytes).trim().min(1),
    parameters: z
      .array(MadeParameter, {
        error: 'must be a list with {name, type, description, required, default} for each argument, not a JSON schema',
      })
      .max(limits.maxMadeParameters)
      .default([]),
    implementation: boundedText(limits.maxImplementationBytes).min(1).meta({
      description:
        'The body of an async function: `args` holds the arguments, `await tools.<name>({…})` calls a tool, and the returned value is the result.',
    }),
    aliases: z.array(z.string()).max(limits.maxAliasesPerEntry).optional().meta({
      description: 'Default aliases, used by toolset entries that set none: 2 to 64 of a-z, 0-9, "_" and "-", beginning with a letter.',
    }),
    uses: z.array(z.string().min(1).max(limits.maxCanonicalNameLength)).max(limits.maxMadeUses).optional().meta({
      description:
        'Canonical names of the tools that it may call. Absent: the tools that its code uses as `tools.<name>` or `tools["<name>"]`.',
    }),
    names: z.record(z.string().min(1).max(128), z.string().min(1).max(limits.maxCanonicalNameLength)).optional().meta({
      description: 'Other names that its code uses for these tools, each with its canonical name: `{"search": "docs.search"}`.',
    }),
  })
  .meta({
    id: 'MadeTool',
    example: {
      description: 'Replaces a text in a file.',
      parameters: [
        { name: 'path', type: 'string', description: 'The file', required: true },
        { name: 'find', type: 'string', description: 'What to look for', required: true },
        { name: 'replace', type: 'string', description: 'What to put in its place', required: true },
      ],
      implementation:
        'const read = await tools.read_file({ path: args.path });\nif (!read.success) return { replaced: 0, error: read.error };\nconst parts = read.output.split(args.find);\nawait tools.write_file({ path: args.path, content: parts.join(args.replace) });\nreturn { replaced: parts.length - 1 };',
    },
  });
export type MadeTool = z.infer<typeof MadeTool>;

/** The input of the Catalog. `by`: id of the key that writes the tool. */
export const WrittenMadeTool = MadeTool.extend({ by: z.string().min(1).optional() });
export type WrittenMadeTool = z.infer<typeof WrittenMadeTool>;

/**
 * The writer of a made tool, and whether the tool is private to that key. `by` absent: it was written before writers were recorded,
 * so its text is untrusted for every key.
 */
export type MadeBy = { by?: string; private?: true };

/**
 * A made tool as used by toolsets. `uses`: canonical names of the tools that it may call; `names`: other names that its code uses for them.
 */
export type MadeSource = MadeBy & { implementation: string; uses: readonly string[]; names?: Readonly<Record<string, string>> };

/** The stored form: `uses` is filled in, and the definition is pinned. */
export type StoredMadeTool = Omit<WrittenMadeTool, 'name' | 'uses' | 'aliases'> & { uses: string[]; aliases?: Alias[]; pin: string };

// A made tool as stored: pinned when it was checked, and verified when it is loaded. A row that differs from what was checked is held and
// never runs (SEC-48).

const Stored = WrittenMadeTool.omit({ name: true }).extend({
  uses: z.array(CanonicalName),
  aliases: z.array(Alias).optional(),
  pin: z.string(),
});

/** `name`: that of the document. The hash covers it together with everything stored. */
export async function pinned(name: string, tool: Omit<StoredMadeTool, 'pin'>): Promise<StoredMadeTool> {
  return { ...tool, pin: await pinOf(name, tool) };
}

/** Reads a stored row. Returns null if it differs from what was written. */
export async function readStored(name: string, body: Record<string, unknown>): Promise<StoredMadeTool | null> {
  const { pin, ...tool } = body;
  const parsed = Stored.safeParse(body);
  return parsed.success && pin === (await pinOf(name, tool)) ? parsed.data : null;
}

async function pinOf(name: string, tool: Record<string, unknown>): Promise<string> {
  return await sha256Hex(canonicalJson({ canonical: name, ...tool }));
}
