/**
 * A webhook as its administrator writes it (DESIGN §8): who may send, which events count, which session they belong to, and what
 * its agent is told. What a delivery goes through is `engine/triggers/take-delivery.ts`.
 */
import { z } from 'zod';
import { ResourceName } from '../agent.ts';
import { limits } from '../limits.ts';
import { CallbackShape, SigningSecret } from './callbacks/callback-settings.ts';

export const WebhookScheme = z.enum(['standard', 'github', 'stripe', 'slack', 'hmac', 'bearer']).meta({ id: 'WebhookScheme' });
export type WebhookScheme = z.infer<typeof WebhookScheme>;

const HeaderName = z
  .string()
  .max(limits.maxHeaderNameLength)
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, { message: 'must be the name of a header' })
  .transform((name) => name.toLowerCase());

/** Of a sender that signs in a way of its own. */
export const HmacSettings = z
  .strictObject({
    header: HeaderName.meta({ description: 'Holds the signature.' }),
    algorithm: z.enum(['sha1', 'sha256', 'sha512']).default('sha256'),
    encoding: z.enum(['hex', 'base64', 'base64url']).default('hex'),
    prefix: z.string().max(100).default('').meta({ description: 'Before the signature in its header, such as `sha256=`.' }),
    signed: z
      .string()
      .max(200)
      .default('{body}')
      .refine((form) => form.split('{body}').length === 2, { message: 'must hold {body}, once' })
      .refine((form) => !/\{(?!(?:body|timestamp|id)\})[a-z]+\}/i.test(form), { message: 'knows {body}, {timestamp} and {id} only' })
      .meta({ description: 'What is signed: `{body}` and, if given, `{timestamp}` and `{id}`, as in `{timestamp}.{body}`.' }),
    timestampHeader: HeaderName.optional().meta({
      description: 'Holds the time of sending in seconds. With it in `signed`, what is older or newer than 5 minutes is refused.',
    }),
    idHeader: HeaderName.optional().meta({
      description: 'Holds the id of the delivery. Absent: what is sent word for word again is a repeat.',
    }),
  })
  .refine(({ signed, timestampHeader }) => !signed.includes('{timestamp}') || timestampHeader !== undefined, {
    path: ['timestampHeader'],
    message: 'is needed for {timestamp} in `signed`',
  })
  .refine(({ signed, timestampHeader }) => timestampHeader === undefined || signed.includes('{timestamp}'), {
    path: ['signed'],
    message: 'must hold {timestamp}: a time that is not signed proves nothing',
  })
  .refine(({ signed, idHeader }) => !signed.includes('{id}') || idHeader !== undefined, {
    path: ['idHeader'],
    message: 'is needed for {id} in `signed`',
  })
  .meta({ id: 'HmacSettings', example: { header: 'x-signature', algorithm: 'sha256', encoding: 'hex', prefix: 'sha256=' } });
export type HmacSettings = z.infer<typeof HmacSettings>;

export const BearerSettings = z
  .strictObject({
    header: HeaderName.default('authorization').meta({
      description: 'In `authorization` the secret follows `Bearer `; in any other it stands alone.',
    }),
    idHeader: HeaderName.optional().meta({
      description: 'Holds the id of the delivery. Absent: what is sent word for word again is a repeat.',
    }),
  })
  .meta({ id: 'BearerSettings', example: { header: 'x-gitlab-token', idHeader: 'x-gitlab-event-uuid' } });
export type BearerSettings = z.infer<typeof BearerSettings>;

export const Webhook = z
  .strictObject({
    name: ResourceName.optional().meta({ description: 'If given, equals the name in the path.' }),
    description: z.string().max(limits.maxDescriptionBytes).optional(),
    agent: ResourceName.meta({ description: 'Takes the turns.' }),
    scheme: WebhookScheme.meta({ description: 'How deliveries are signed.' }),
    secret: z
      .union([SigningSecret, z.array(SigningSecret).min(1).max(limits.maxWebhookSecrets)], { error: 'must be a text, or a list of texts' })
      .optional()
      .meta({
        description:
          'Write-only: one, or several while one is replaced, each of which is taken. Needed at first; left out later, those of before stay.',
      }),
    hmac: HmacSettings.optional().meta({ description: 'Of scheme `hmac`, and needed there.' }),
    bearer: BearerSettings.optional().meta({ description: 'Of scheme `bearer`. Absent: `Authorization: Bearer <secret>`.' }),
    filter: z.string().max(limits.maxFilterLength).optional().meta({
      description:
        'CEL over `event`, `payload` and `headers`, such as `event == "issues" && payload.action in ["opened", "edited"]`. What it is not true of is kept as `ignored`, as is what has no field that it names: `has(payload.field)` and `"X-Kind" in headers` ask.',
    }),
    session: z.string().min(1).max(limits.maxSessionTemplateLength).default('{{@delivery}}').meta({
      description:
        'Template of the session’s key: deliveries with the same key talk in one session. Different values never make the same key: with `{{a}}:{{b}}`, `:` and `%` in `a` are percent-encoded. Absent: a session for each delivery.',
    }),
    input: z.string().min(1).max(limits.maxInputTemplateLength).meta({
      description:
        'Template of what the agent is told: `{{path}}`, `{{json path}}`, `{{#each path}}…{{else}}…{{/each}}` with `{{this}}` and `{{@index}}`, `{{#if path}}…{{else}}…{{/if}}`. What is more than a single plain word stands between `<data>` and `</data>`.',
    }),
    respond: z
      .enum(['async', 'sync'])
      .default('async')
      .meta({
        description: `\`sync\`: waits up to ${limits.syncRespondMs / 1000} s and answers with the turn’s text.`,
      }),
    paused: z.boolean().optional().meta({ description: 'Deliveries are kept as `ignored`, and can be replayed.' }),
    ...CallbackShape,
  })
  .refine(({ scheme, hmac }) => scheme !== 'hmac' || hmac !== undefined, {
    path: ['hmac'],
    message: 'is missing: the scheme `hmac` needs to know how it is signed, as in {"header": "x-signature", "prefix": "sha256="}',
  })
  .refine(({ scheme, hmac }) => scheme === 'hmac' || hmac === undefined, {
    path: ['hmac'],
    message: 'belongs to the scheme `hmac`',
  })
  .refine(({ scheme, bearer }) => bearer === undefined || scheme === 'bearer', {
    path: ['bearer'],
    message: 'belongs to the scheme `bearer`',
  })
  .meta({
    id: 'Webhook',
    example: {
      agent: 'demo',
      scheme: 'github',
      secret: 'the secret that GitHub was given',
      filter: 'event == "issues" && payload.action == "opened"',
      session: '{{repository.full_name}}#{{issue.number}}',
      input: 'New issue: {{issue.title}}\n\n{{issue.body}}',
    },
  });
export type Webhook = z.infer<typeof Webhook>;

/** As it is stored and published: what is secret is sealed beside it. */
export type WebhookDocument = Omit<Webhook, 'secret' | 'callbackSecret'>;

/** What is sealed beside a webhook (JSON). `callback` null: the first secret signs. */
export type WebhookSecrets = { secrets: string[]; callback: string | null };
