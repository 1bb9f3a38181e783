/**
 * The redaction rules of a workspace (`settings.redaction`): texts that are replaced by labels in results and logs, whatever their source.
 * `redact-text.ts` applies them. Secrets that a call has read are removed without a rule (`engine/call/redact.ts`).
 */
import * as z from 'zod';
import { ToolsetName } from '../toolset/toolset.ts';

const maxPatterns = 20;
const maxPatternLength = 500;
const maxLabelLength = 64;
const maxRedactedToolsets = 100;

export const RedactionRule = z.enum(['secret', 'email', 'phone', 'card', 'iban', 'ip', 'ssn']).meta({ id: 'RedactionRule' });
export type RedactionRule = z.infer<typeof RedactionRule>;

const PatternName = z.string().regex(/^[a-z][a-z0-9-]{0,31}$/, { message: 'must be 1-32 of a-z, 0-9 and -, beginning with a letter' });

export const RedactionPattern = z
  .strictObject({
    name: PatternName,
    pattern: z.string().min(1).max(maxPatternLength).meta({
      description:
        'A regular expression of RE2: without backreferences and lookaround, with at most 2,000 states when it is compiled. `(?i)` ignores case. It must not match the empty text.',
    }),
    replaceWith: z.string().max(maxLabelLength).optional().meta({ description: 'Absent: the name in brackets.' }),
  })
  .meta({ id: 'RedactionPattern', example: { name: 'employee', pattern: 'EMP-[0-9]{6}', replaceWith: '[employee]' } });
export type RedactionPattern = z.infer<typeof RedactionPattern>;

export const Redaction = z
  .strictObject({
    rules: z.array(RedactionRule).max(RedactionRule.options.length).default([]).meta({
      description:
        'Built-in rules: `secret` (keys and tokens of well-known formats, private keys), `email`, `phone`, `card` (with a valid check digit), `iban` (with a valid checksum), `ip` and `ssn` (US).',
    }),
    patterns: z.array(RedactionPattern).max(maxPatterns).default([]),
    results: z
      .boolean()
      .default(true)
      .meta({ description: 'Whether the rules apply to results: what models, clients and the log of a session get.' }),
    logs: z.boolean().default(true).meta({ description: 'Whether the rules apply to the log and to the stored bodies of requests.' }),
    toolsets: z.array(ToolsetName).min(1).max(maxRedactedToolsets).optional().meta({
      description: 'Only results of calls with these toolsets. Absent: all results. Logs are redacted in any case.',
    }),
  })
  .refine(({ rules, patterns }) => rules.length > 0 || patterns.length > 0, { message: 'must have `rules` or `patterns`' })
  .meta({ id: 'Redaction', example: { rules: ['secret', 'email', 'card'], patterns: [], results: true, logs: true } });
export type Redaction = z.infer<typeof Redaction>;
