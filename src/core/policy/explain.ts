/** POST /v1/policy/test as data: what is asked, and what the policy says to it. Worked out by `engine/policy/explain-policy.ts`; nothing is done. */
import { z } from 'zod';
import { AskKind } from '../approval.ts';
import { limits } from '../limits.ts';
import { resolvePath } from '../path.ts';
import { ToolsetName } from '../toolset.ts';
import type { Effect } from '../policy-effect.ts';
import { requestHost } from './host.ts';
import { PolicyRule } from './rule.ts';

/** As a tool would have it: judged is where it leads. */
const Path = z
  .string()
  .max(limits.maxPathBytes)
  .transform((text, context) => {
    const resolved = text.startsWith('/') ? resolvePath(text, '/') : { ok: false as const, reason: 'it does not begin with /' };
    if (resolved.ok) return resolved.path;
    context.addIssue({ code: 'custom', message: `must be an absolute path: ${resolved.reason}` });
    return z.NEVER;
  })
  .meta({ description: 'Absolute path.', example: '/workspace/notes.txt' });
const Host = z
  .string()
  .min(1)
  .max(limits.maxUrlLength)
  .transform((text, context) => {
    const host = /[/?#@\\\s]/.test(text) ? null : requestHost(`https://${text}/`);
    if (host !== null) return host;
    context.addIssue({ code: 'custom', message: 'must be a host, with :port where it is not the usual one' });
    return z.NEVER;
  });

/** Written out beside `Effect`, for who asks: its schema and its type are checked against each other below. */
export const EffectView = z
  .discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('call'),
      does: z.enum(['read', 'write', 'destroy']).nullable(),
      trusted: z.boolean(),
      sends: z.boolean(),
    }),
    z.strictObject({ kind: z.literal('read-file'), path: Path }),
    z.strictObject({
      kind: z.literal('write-file'),
      path: Path,
      change: z.enum(['create', 'append', 'overwrite', 'attributes', 'move-away']).default('create'),
      own: z.boolean().default(true).meta({ description: 'The session wrote what stands there.' }),
    }),
    z.strictObject({ kind: z.literal('delete-file'), path: Path }),
    z.strictObject({
      kind: z.literal('network'),
      host: Host,
      method: z
        .string()
        .regex(/^[A-Z]{1,16}$/, { message: 'must be an HTTP method in capitals' })
        .default('GET'),
    }),
    z.strictObject({ kind: z.literal('secret'), name: z.string().min(1).max(128) }),
    z.strictObject({
      kind: z.literal('registry'),
      change: z.enum(['create-tool', 'share-tool', 'replace-tool', 'write-toolset', 'delete-toolset']),
      name: z.string().min(1).max(192),
    }),
  ])
  .meta({ id: 'PolicyEffect' });
EffectView satisfies z.ZodType<Effect>;

export const PolicyQuestion = z
  .strictObject({
    tool: z.string().min(1).max(limits.maxToolNameBytes).optional().meta({
      description: 'Canonical name; with `toolset` any name that it resolves. Beside `effect`: which tool would do it.',
      example: 'builtin.bash',
    }),
    arguments: z.record(z.string(), z.unknown()).optional().meta({ description: 'Of the call.' }),
    effect: EffectView.optional().meta({ description: 'Asks about this, whatever brings it about.' }),
    toolset: ToolsetName.optional(),
    agent: z.string().min(1).max(64).optional().meta({ description: 'As if in a turn of this agent.' }),
    key: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .meta({ description: 'As if called with the key of this id. Absent: the one of the request.' }),
    session: z.string().min(1).max(200).optional().meta({
      description:
        'With `toolset`: on the files of this session, and with what it has seen. Absent: what is to be deleted is taken to be there, and a script runs over a workspace with nothing in it.',
    }),
  })
  .refine(({ tool, effect }) => tool !== undefined || effect !== undefined, { message: 'must say what it asks about: tool or effect' })
  .refine((asked) => asked.effect === undefined || (asked.arguments ?? asked.session ?? asked.toolset) === undefined, {
    path: ['effect'],
    message: 'stands without arguments, toolset and session: it is judged as it is',
  })
  .refine(({ session, toolset }) => session === undefined || toolset !== undefined, { path: ['session'], message: 'needs a toolset' })
  .meta({
    id: 'PolicyQuestion',
    example: { tool: 'builtin.bash', arguments: { command: 'rm -rf build; curl https://api.example.com/done' } },
  });
export type PolicyQuestion = z.infer<typeof PolicyQuestion>;

const Verdict = z.enum(['allow', 'ask', 'deny']);
const RuleRef = z
  .object({ index: z.int().meta({ description: 'In the document, from 0.' }), rule: PolicyRule })
  .nullable()
  .meta({ description: 'The rule that decided; null: what holds without any.' });

export const PolicyAnswer = z
  .object({
    canonical: z.string().nullable(),
    verdict: Verdict,
    kind: AskKind.nullable().meta({ description: 'Of the verdict `ask`: what is asked about first.' }),
    reason: z.string(),
    rule: RuleRef,
    notes: z.array(z.string()).optional().meta({
      description:
        'What the verdict does not say: arguments that would be refused, files that were not looked at, calls that are judged later.',
    }),
    effects: z
      .array(
        z.object({
          tool: z.string().nullable().meta({ description: 'null: none was named.' }),
          effect: EffectView,
          verdict: Verdict,
          reason: z.string(),
          rule: z.int().nullable(),
        }),
      )
      .meta({
        description: `What the call would do, as far as that can be said without doing it; at most ${limits.maxToldEffects}. A script of \`builtin.bash\` is run on files that are thrown away, sends nothing and calls nothing. Of a made tool: what each tool that it may call would be judged, as far as that is known without arguments; the verdict of the call does not go by it.`,
      }),
  })
  .meta({
    id: 'PolicyAnswer',
    example: {
      canonical: 'builtin.bash',
      verdict: 'ask',
      kind: 'delete-file',
      reason: 'It deletes /workspace/a.txt, which cannot be undone',
      rule: null,
      effects: [
        {
          tool: 'builtin.bash',
          effect: { kind: 'delete-file', path: '/workspace/a.txt' },
          verdict: 'ask',
          reason: 'It deletes /workspace/a.txt, which cannot be undone',
          rule: null,
        },
      ],
    },
  });
export type PolicyAnswer = z.infer<typeof PolicyAnswer>;
