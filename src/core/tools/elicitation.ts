/**
 * The questions that a server may ask a person during a call (MCP elicitation, 2025-06-18 to 2026-07-28): a form of plain fields, or
 * a page to open. A question is untrusted text: it is rebuilt from the fields that MCP defines, cleaned, bounded, and prefixed with
 * the name of the server. Forms that ask for secrets are refused, as the protocol requires ("Servers MUST NOT use form mode
 * elicitation to request sensitive information"). Pure and idempotent, since a question may be screened twice on its way.
 */
import { z } from 'zod';
import { checkInput } from '../schema/input-schema.ts';
import { limits } from '../limits.ts';
import { cleanDescription, hasNoHiddenCharacters } from '../listing/listing-text.ts';
import type { InputRequest } from './mcp-input.ts';
import type { Issue } from '../problem.ts';
import { isRecord } from '../json/wire-value.ts';

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
  const told = toldMessage(server, message);
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

/** Joins all questions in one line, for use in a sentence. */
export function questionText(requests: Readonly<Record<string, InputRequest>>): string {
  const messages = Object.values(requests).map(({ params }) => (typeof params.message === 'string' ? params.message : ''));
  const line = messages.join(' ').replaceAll(/\s+/g, ' ').trim();
  return line.length <= maxElicitationTextLength ? line : `${line.slice(0, maxElicitationTextLength - 1).toWellFormed()}…`;
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

function toldMessage(server: string, message: string): string {
  const prefix = `Server "${server}" asks: `;
  return prefix + tidy(message.startsWith(prefix) ? message.slice(prefix.length) : message, maxElicitationMessageLength);
}

function tidy(text: string, maxLength: number): string {
  const { text: cleaned } = cleanDescription(text);
  return cleaned.length <= maxLength ? cleaned : `${cleaned.slice(0, maxLength - 1).toWellFormed()}…`;
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
    const field = name.length > maxElicitationTextLength || !hasNoHiddenCharacters(name) || !isRecord(written) ? null : readField(written);
    if (field === null) return refused(noForm);
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

/** Returns the members that MCP defines for a field of this type; null if the type is unsupported. */
function readField(field: Record<string, unknown>): Record<string, unknown> | null {
  const texts = { ...textMember(field, 'title'), ...textMember(field, 'description') };
  switch (field.type) {
    case 'boolean':
      return { type: 'boolean', ...texts, ...member(field, 'default', isBoolean) };
    case 'number':
    case 'integer':
      return { type: field.type, ...texts, ...members(field, ['minimum', 'maximum', 'default'], isNumber) };
    case 'string': {
      const choices = readChoices(field, 'oneOf');
      if (choices === null) return null;
      const more = { ...members(field, ['minLength', 'maxLength'], isNumber), ...member(field, 'format', isFormat) };
      return { type: 'string', ...texts, ...choices, ...more, ...member(field, 'default', isText) };
    }
    case 'array': {
      const items = isRecord(field.items) ? readChoices(field.items, 'anyOf') : null;
      if (items === null || Object.keys(items).length === 0) return null;
      const many = members(field, ['minItems', 'maxItems'], isNumber);
      const isTexts = (value: unknown) => Array.isArray(value) && value.length <= maxElicitationChoices && value.every(isText);
      return { type: 'array', ...texts, items: { type: 'string', ...items }, ...many, ...member(field, 'default', isTexts) };
    }
    default:
      return null;
  }
}

/** Choices with titles are under `titled`, those without under `enum`. Empty: free text; null: the choices are invalid. */
function readChoices(field: Record<string, unknown>, titled: 'oneOf' | 'anyOf'): Record<string, unknown> | null {
  const { enum: plain, enumNames: names, [titled]: options } = field;
  if (options !== undefined) {
    if (!isShortList(options)) return null;
    const read = options.map((option) =>
      isRecord(option) && isText(option.const) ? { const: option.const, title: titleOf(option) } : null,
    );
    return read.includes(null) ? null : { [titled]: read };
  }
  if (plain === undefined) return {};
  if (!isShortList(plain) || !plain.every(isText)) return null;
  const isNamed = isShortList(names) && names.length === plain.length && names.every(isText);
  return { enum: plain, ...(isNamed && { enumNames: names.map((name) => tidy(String(name), maxElicitationTextLength)) }) };
}

function titleOf(option: Record<string, unknown>): string {
  return tidy(isText(option.title) ? String(option.title) : String(option.const), maxElicitationTextLength);
}

function isShortList(value: unknown): value is unknown[] {
  return Array.isArray(value) && value.length > 0 && value.length <= maxElicitationChoices;
}

const isBoolean = (value: unknown): boolean => typeof value === 'boolean';
const isNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value);
/** The value is sent back unchanged, so it is accepted or dropped as a whole. */
const isText = (value: unknown): boolean =>
  typeof value === 'string' && value.length <= maxElicitationMessageLength && hasNoHiddenCharacters(value);
const isFormat = (value: unknown): boolean => ['email', 'uri', 'date', 'date-time'].includes(String(value));

function textMember(field: Record<string, unknown>, name: string): Record<string, string> {
  const text = field[name];
  return typeof text === 'string' ? { [name]: tidy(text, maxElicitationTextLength) } : {};
}

function member(field: Record<string, unknown>, name: string, isGood: (value: unknown) => boolean): Record<string, unknown> {
  return isGood(field[name]) ? { [name]: field[name] } : {};
}

function members(field: Record<string, unknown>, names: readonly string[], isGood: (value: unknown) => boolean): Record<string, unknown> {
  return Object.assign({}, ...names.map((name) => member(field, name, isGood)));
}

// Detects whether the text of a form asks for a secret. It searches for words in the most common languages, so it finds a server that
// asks openly, not one that disguises the question. Views of a form therefore also show which server asks.

/**
 * `text`: a field's name, title or description. `isText`: the field takes text, so `token` means a credential and not a count of tokens.
 */
function namesSecret(text: string, isText: boolean): boolean {
  const words = wordsOf(text);
  return secretWords.test(words) || (isText && tokenWords.test(words)) || foreignWords.test(words);
}

/** Whether a message asks for a secret: "Enter your password" does, "The password was changed" does not. */
function isAskingForSecret(message: string): boolean {
  return message.split(/[.!?\n]+/).some((sentence) => {
    const words = wordsOf(sentence);
    const asking = askingWords.exec(words);
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
    'pass ?(?:words?|wd|code|codes|phrase|phrases|key|keys)',
    'pwd',
    'pin(?: codes?| numbers?)?',
    '(?:client |shared |app )?secrets?(?: keys?)?',
    '(?:api|access|private|secret|signing|encryption|ssh|license|master) ?keys?',
    'credentials?',
    'otp',
    'totp',
    '2fa(?: codes?)?',
    '(?:one time|verification|authentication|auth|security|recovery|backup|mfa) (?:codes?|passwords?)',
    '(?:seed|recovery|mnemonic) (?:phrases?|words?)',
    'mnemonics?',
    'cvv2?',
    'cvc2?',
    '(?:credit|debit|bank|payment) ?cards?',
    'card ?(?:numbers?|no|pan)',
    'iban',
    '(?:bank )?account numbers?',
    'ssn',
    'social security(?: numbers?| no)?',
  ].join('|')}) `,
);

const tokenWords = / (?:(?:access|auth|bearer|refresh|api|id|session|personal access) ?tokens?|token|jwt|cookies?) /;

/** Scripts without spaces between words: a match anywhere counts. */
const foreignWords =
  / (?:passwort|kennwort|geheimnis|contraseña|clave secreta|mot de passe|senha|parola d ordine|wachtwoord|hasło|пароль|şifre) |密码|密碼|口令|パスワード|暗証番号|비밀번호/;

const askingWords =
  / (?:enter|type|provide|give|send|tell|supply|submit|paste|input|insert|confirm|share|write|fill in|reply with|we need|i need|need your|your|what is|what s|what are) /;
