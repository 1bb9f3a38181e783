/**
 * The questions that a server may ask a person during a call (MCP elicitation, 2025-06-18 to 2026-07-28): a form of plain fields, or
 * a page to open. A question is untrusted text: it is rebuilt from the fields that MCP defines, cleaned, bounded, and prefixed with
 * the name of the server. Forms that ask for secrets are refused, as the protocol requires ("Servers MUST NOT use form mode
 * elicitation to request sensitive information"). Pure and idempotent, since a question may be screened twice on its way.
 */
import * as z from 'zod';
import { checkInput } from '../schema/input-schema.ts';
import { limits } from '../limits/limits.ts';
import { cleanDescription, hasNoHiddenCharacters } from '../tools/listing-text.ts';
import type { InputRequest } from '../tools/mcp-input.ts';
import type { Issue } from '../problem.ts';
import { isRecord } from '../json/wire-value.ts';
import { cutToLength } from '../text/utf8.ts';

/**
 * One question of a server to a person: characters of its message and of each text of a field, number of fields, and choices of one field.
 */
export const maxElicitationMessageLength = 2_000;
const maxElicitationTextLength = 500;
export const maxElicitationFields = 50;
const maxElicitationChoices = 200;

/** `reason`: one clause that completes the error message of the call. */
type ScreenedElicitation = { ok: true; request: InputRequest } | { ok: false; reason: string };

/** `server`: the name of the server in the workspace, never the name that it gives itself. */
export function screenElicitation(server: string, request: InputRequest): ScreenedElicitation {
  if (request.method !== 'elicitation/create') return refused('it sent a request that a person cannot answer');
  const { mode = 'form', message, url, elicitationId, requestedSchema } = request.params;
  if (typeof message !== 'string') return refused('its question has no message');
  const told = attributedMessage(server, message);
  if (mode === 'url') return screenUrl(told, url, elicitationId);
  if (mode !== 'form') return refused('it used an unsupported elicitation mode');
  const form = readForm(requestedSchema);
  if (!form.ok) return form;
  if (form.hasFreeText && isAskingForSecret(message)) return refused(secretReason);
  return { ok: true, request: { method: request.method, params: { mode: 'form', message: told, requestedSchema: form.schema } } };
}

export const ElicitationAction = z.enum(['accept', 'decline', 'cancel']).meta({ id: 'ElicitationAction' });
export type ElicitationAction = z.infer<typeof ElicitationAction>;

/** A person's answer to one question (MCP `ElicitResult`). */
export const ElicitationAnswer = z
  .strictObject({
    action: ElicitationAction,
    content: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: 'For an accepted form: the fields that `requestedSchema` describes.' }),
  })
  .meta({ id: 'ElicitationAnswer', example: { action: 'accept', content: { name: 'Ada' } } });
export type ElicitationAnswer = z.infer<typeof ElicitationAnswer>;

/** Joins all questions in one line, for use in a sentence. Links are complete: a part of one would lead elsewhere. */
export function questionText(requests: Readonly<Record<string, InputRequest>>): string {
  const questions = Object.values(requests);
  const messages = questions.map(({ params }) => (typeof params.message === 'string' ? params.message : ''));
  const text = cutToLength(messages.join(' ').replaceAll(/\s+/g, ' ').trim(), maxElicitationTextLength);
  const links = questions.flatMap(({ params }) =>
    params.mode === 'url' && typeof params.url === 'string' ? [`Open ${params.url} in a browser.`] : [],
  );
  return [text, ...links].filter((part) => part !== '').join(' ');
}

/** Returns the errors of an answer to a screened question. Only an accepted form has content. */
export function elicitationFaults(request: InputRequest, answer: ElicitationAnswer): Issue[] {
  const isForm = request.params.mode !== 'url';
  if (answer.action !== 'accept' || !isForm) {
    return answer.content === undefined ? [] : [{ path: 'content', message: 'must be left out: only an accepted form has content' }];
  }
  if (answer.content === undefined) return [{ path: 'content', message: 'must be an object with the fields of `requestedSchema`' }];
  const schema = isRecord(request.params.requestedSchema) ? request.params.requestedSchema : {};
  return checkInput({ ...schema, additionalProperties: false }, answer.content).map(({ path, ...issue }) => ({
    ...issue,
    path: path === '' ? 'content' : `content.${path}`,
  }));
}

/** The question was not shown to anyone. */
export const declined = { action: 'decline' } as const;
/** There is no person to ask. */
export const cancelled = { action: 'cancel' } as const;

function refused(reason: string): { ok: false; reason: string } {
  return { ok: false, reason };
}

const secretReason = 'it asked for a password or another secret in a form, which is not allowed';

function attributedMessage(server: string, message: string): string {
  const prefix = `Server "${server}" asks: `;
  return prefix + tidy(message.startsWith(prefix) ? message.slice(prefix.length) : message, maxElicitationMessageLength);
}

function tidy(text: string, maxLength: number): string {
  return cutToLength(cleanDescription(text).text, maxLength);
}

/** We never open the page: a person does, after seeing its address. */
function screenUrl(message: string, url: unknown, elicitationId: unknown): ScreenedElicitation {
  const isOpenable =
    typeof url === 'string' &&
    url.length <= limits.maxUrlLength &&
    /^https?:\/\//i.test(url) &&
    hasNoHiddenCharacters(url) &&
    URL.canParse(url);
  if (!isOpenable) return refused('it asked to open a URL that is not http or https');
  const { href, username, password } = new URL(url);
  if (username !== '' || password !== '') return refused('it asked to open a URL that contains credentials');
  const id =
    typeof elicitationId === 'string' && elicitationId.length <= 200 && hasNoHiddenCharacters(elicitationId) ? { elicitationId } : {};
  return { ok: true, request: { method: 'elicitation/create', params: { mode: 'url', message, url: href, ...id } } };
}

type Form = { ok: true; schema: Record<string, unknown>; hasFreeText: boolean } | { ok: false; reason: string };

const noForm = 'its form does not consist of plain fields';

function readForm(schema: unknown): Form {
  if (!isRecord(schema) || schema.type !== 'object' || !isRecord(schema.properties)) return refused(noForm);
  const fields = Object.entries(schema.properties);
  if (fields.length > maxElicitationFields) return refused(`its form has more than ${maxElicitationFields} fields`);
  const properties = new Map<string, Record<string, unknown>>();
  for (const [name, written] of fields) {
    const isNamed = name.length <= maxElicitationTextLength && hasNoHiddenCharacters(name);
    const field: Record<string, unknown> | undefined = isNamed ? Field.safeParse(written).data : undefined;
    if (field === undefined) return refused(noForm);
    if (isOpenEnded(field) && isSecretField(name, written as Record<string, unknown>)) return refused(secretReason);
    properties.set(name, field);
  }
  const required = Array.isArray(schema.required) ? schema.required.filter((name) => properties.has(name)) : [];
  return {
    ok: true,
    schema: { type: 'object', properties: Object.fromEntries(properties), ...(required.length > 0 && { required }) },
    hasFreeText: [...properties.values()].some((field) => field.type === 'string' && isOpenEnded(field)),
  };
}

/** Whether the field accepts free text, not only choices that the server wrote. */
function isOpenEnded({ type, enum: choices, oneOf }: Record<string, unknown>): boolean {
  return (type === 'string' && choices === undefined && oneOf === undefined) || type === 'number' || type === 'integer';
}

function isSecretField(name: string, { type, title, description, format, writeOnly }: Record<string, unknown>): boolean {
  if (format === 'password' || writeOnly === true) return true;
  const texts = [name, title, description].filter((text) => typeof text === 'string');
  return texts.some((text) => namesSecret(text, type === 'string'));
}

/** Text that is sent back unchanged, so it is accepted or dropped as a whole. */
const PlainText = z.string().max(maxElicitationMessageLength).refine(hasNoHiddenCharacters);
const Label = z.string().transform((text) => tidy(text, maxElicitationTextLength));
const Option = z
  .object({ const: PlainText, title: PlainText.optional().catch(undefined) })
  .transform(({ const: value, title = value }) => ({ const: value, title: Label.parse(title) }));

const shortList = <Item extends z.ZodType>(item: Item) => z.array(item).min(1).max(maxElicitationChoices);
/** A member that is dropped if its value is invalid. */
const member = <Type extends z.ZodType>(type: Type) => type.optional().catch(undefined);
const labels = { title: member(Label), description: member(Label) };
const number = member(z.number());
const plainChoices = { enum: shortList(PlainText).optional(), enumNames: member(shortList(PlainText.pipe(Label))) };

type Choices = { enum?: string[] | undefined; enumNames?: string[] | undefined; oneOf?: unknown; anyOf?: unknown };

/** Choices with titles take precedence over those without. */
function oneKind<Field extends Choices>({ enum: plain, enumNames: names, ...field }: Field) {
  if (plain === undefined || field.oneOf !== undefined || field.anyOf !== undefined) return field;
  return { ...field, enum: plain, ...(names?.length === plain.length && { enumNames: names }) };
}

/** The members that MCP defines for a field of each type; others are removed. */
const Field = z.discriminatedUnion('type', [
  z.object({ type: z.literal('boolean'), ...labels, default: member(z.boolean()) }),
  z.object({ type: z.enum(['number', 'integer']), ...labels, minimum: number, maximum: number, default: number }),
  z
    .object({
      ...{
        type: z.literal('string'),
        ...labels,
        ...plainChoices,
        oneOf: shortList(Option).optional(),
        minLength: number,
        maxLength: number,
      },
      format: member(z.enum(['email', 'uri', 'date', 'date-time'])),
      default: member(PlainText),
    })
    .transform(oneKind),
  z.object({
    ...{ type: z.literal('array'), ...labels, minItems: number, maxItems: number },
    items: z
      .object({ ...plainChoices, anyOf: shortList(Option).optional() })
      .refine(({ enum: plain, anyOf }) => plain !== undefined || anyOf !== undefined)
      .transform((items) => ({ type: 'string', ...oneKind(items) })),
    default: member(z.array(PlainText).max(maxElicitationChoices)),
  }),
]);

// Detects whether the text of a form asks for a secret. It searches for words in the most common languages, so it finds a server that
// asks openly, not one that disguises the question. Views of a form therefore also show which server asks.

/**
 * `text`: a field's name, title or description. `isText`: the field takes text, so `token` means a credential and not a count of tokens.
 */
export function namesSecret(text: string, isText: boolean): boolean {
  const words = wordsOf(text);
  return secretWords.test(words) || (isText && tokenWords.test(words)) || foreignWords.test(words);
}

/** Whether a message asks for a secret: "Enter your password" does, "The password was changed" does not. */
function isAskingForSecret(message: string): boolean {
  return message.split(/[.!?\n]+/).some((sentence) => {
    const words = wordsOf(sentence);
    const asking = requestPhrases.exec(words);
    return (asking !== null && namesSecret(words.slice(asking.index), true)) || foreignWords.test(words);
  });
}

/**
 * `apiKey`, `api_key` and `API-Key` give the same words; so do full-width and ordinary letters. The length is bounded: a long text
 * does not name a field at its end.
 */
function wordsOf(text: string): string {
  return ` ${text
    .slice(0, 4_000)
    .replaceAll(warning, ' ')
    .normalize('NFKC')
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}]+/gu, ' ')} `;
}

/** "Do not give us your PIN" asks for no secret; "do not forget your password" does. */
const warning =
  /\b(?:do not|don['’]t|never) (?:ever )?(?:give|enter|type|share|send|include|provide|put|use|write|tell|submit|paste)\b[^.!?;)\n]{0,300}/giu;

const secretWords = new RegExp(
  ` (?:${[
    'pass ?(?:words?|wd|code|codes|phrase|phrases|key|keys)|pwd|pin(?: codes?| numbers?)?',
    '(?:client |shared |app )?secrets?(?: keys?)?|credentials?',
    '(?:api|access|private|secret|signing|encryption|ssh|license|master) ?keys?',
    'otp|totp|2fa(?: codes?)?|(?:one time|verification|authentication|auth|security|recovery|backup|mfa) (?:codes?|passwords?)',
    '(?:seed|recovery|mnemonic) (?:phrases?|words?)|mnemonics?',
    'cvv2?|cvc2?|(?:credit|debit|bank|payment) ?cards?|card ?(?:numbers?|no|pan)|iban|(?:bank )?account numbers?',
    'ssn|social security(?: numbers?| no)?',
  ].join('|')}) `,
);

const tokenWords = / (?:(?:access|auth|bearer|refresh|api|id|session|personal access) ?tokens?|token|jwt|cookies?) /;

/** Scripts without spaces between words: a match anywhere counts. */
const foreignWords =
  / (?:passwort|kennwort|geheimnis|contraseña|clave secreta|mot de passe|senha|parola d ordine|wachtwoord|hasło|пароль|şifre) |密码|密碼|口令|パスワード|暗証番号|비밀번호/;

const requestPhrases =
  / (?:enter|type|provide|give|send|tell|supply|submit|paste|input|insert|confirm|share|write|fill in|reply with|we need|i need|need your|your|what is|what s|what are) /;
