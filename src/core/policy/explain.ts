/** Request and response of POST /v1/policy/test. `engine/policy/explain-policy.ts` computes the response; no effect takes place. */
import * as z from 'zod';
import { AskKind } from './approval.ts';
import { limits } from '../limits/limits.ts';
import { Warning } from '../problem.ts';
import { ToolsetName } from '../toolset/toolset.ts';
import { Policy } from './policy.ts';
import { PolicyEffect } from './policy-effect.ts';
import { PolicyRule } from './rule.ts';

export const PolicyQuestion = z
  .strictObject({
    tool: z.string().min(1).max(limits.maxToolNameLength).optional().meta({
      description: 'Canonical name; with `toolset`, any name that it resolves. With `effect`: the tool that would have the effect.',
      example: 'builtin.bash',
    }),
    arguments: z.record(z.string(), z.unknown()).optional().meta({ description: 'Arguments of the call.' }),
    effect: PolicyEffect.optional().meta({ description: 'Tests this effect, whatever causes it.' }),
    policy: Policy.optional().meta({ description: 'Tests these rules instead of the stored ones, for example before they are written.' }),
    toolset: ToolsetName.optional(),
    agent: z.string().min(1).max(64).optional().meta({ description: 'Tests as if in a turn of this agent.' }),
    key: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .meta({ description: 'Tests as if called with the key of this id. Absent: the key of the request.' }),
    session: z.string().min(1).max(200).optional().meta({
      description:
        'With `toolset`: uses the files and taint marks of this session. Absent: files to be deleted are assumed to exist, and a script runs on an empty workspace.',
    }),
  })
  .refine(({ tool, effect }) => tool !== undefined || effect !== undefined, { message: 'must contain tool or effect' })
  .refine((asked) => asked.effect === undefined || (asked.arguments ?? asked.session ?? asked.toolset) === undefined, {
    path: ['effect'],
    message: 'cannot be combined with arguments, toolset and session, since it is tested as given',
  })
  .refine(({ session, toolset }) => session === undefined || toolset !== undefined, { path: ['session'], message: 'requires toolset' })
  .meta({
    id: 'PolicyQuestion',
    example: { tool: 'builtin.bash', arguments: { command: 'rm -rf build; curl https://api.example.com/done' } },
  });
export type PolicyQuestion = z.infer<typeof PolicyQuestion>;

const Verdict = z.enum(['allow', 'ask', 'deny']);
const RuleRef = z
  .object({ index: z.int().meta({ description: 'Index in the document, from 0.' }), rule: PolicyRule })
  .nullable()
  .meta({ description: 'The rule that decided. null: the default without rules.' });

export const PolicyAnswer = z
  .object({
    canonical: z.string().nullable(),
    verdict: Verdict,
    kind: AskKind.nullable().meta({ description: 'For the verdict `ask`: the first question.' }),
    reason: z.string(),
    rule: RuleRef,
    notes: z.array(z.string()).optional().meta({
      description:
        'What the verdict does not cover: arguments that would be rejected, files that were not checked, calls that are checked later.',
    }),
    warnings: z.array(Warning).optional().meta({ description: 'Names in the rules of `policy` that are not there.' }),
    effects: z
      .array(
        z.object({
          tool: z.string().nullable().meta({ description: 'null: no tool was given.' }),
          effect: PolicyEffect,
          verdict: Verdict,
          reason: z.string(),
          rule: z.int().nullable(),
        }),
      )
      .meta({
        description: `The effects of the call, as far as they are known without running it; at most ${limits.maxListedPolicyEffects}. A script of \`builtin.bash\` runs on temporary copies of the files, without sending or calling anything. For a made tool: the verdict for each tool that it may call, as far as it is known without arguments; they do not affect the verdict of the call.`,
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
