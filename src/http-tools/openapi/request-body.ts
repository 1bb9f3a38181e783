/**
 * Builds the request body of an operation, by content type. OpenAPI 3.1.1, "Request Body Object", "Considerations for `multipart` Content".
 */
import { fromBase64, joinBytes } from '../../core/text/bytes.ts';
import { bodyForm } from '../../core/openapi/body-form.ts';
import { queryPairs, invalidValue } from '../../core/openapi/request-url.ts';
import type { ServerOperation, OperationBody } from '../../core/tools/server-operation.ts';
import { isRecord, ownMember } from '../../core/json/wire-value.ts';

export type WrittenBody = { content: string | Uint8Array<ArrayBuffer>; contentType: string };

/** Returns the body, or null if none is sent. Throws `invalid_request`. */
export function writeBody(
  { body, parameters }: Pick<ServerOperation, 'body' | 'parameters'>,
  args: Record<string, unknown>,
): WrittenBody | null {
  if (body === null) return null;
  const value = body.argument === null ? memberValues(body, parameters, args) : ownMember(args, body.argument);
  if (value === undefined) {
    if (body.isRequired && body.argument !== null) throw invalidValue(body.argument, 'is required: it is the body of the request');
    return null;
  }
  const { contentType } = body;
  const argument = body.argument ?? 'body';
  const form = bodyForm(contentType);
  switch (form) {
    case 'json':
      return { content: JSON.stringify(value), contentType };
    case 'form':
      return { content: formText(body, fieldsOf(argument, value)), contentType };
    case 'multipart':
      return multipart(body, fieldsOf(argument, value));
    case 'text':
      return { content: typeof value === 'string' ? value : JSON.stringify(value), contentType };
    case 'binary':
      return { content: bytesOf(argument, value), contentType };
    default:
      return form satisfies never;
  }
}

/**
 * Returns the fields under their original names, and additional ones if the schema allows them. undefined: no body is given, and none is
 * required.
 */
function memberValues(
  { members = {}, isRequired }: OperationBody,
  parameters: ServerOperation['parameters'],
  args: Record<string, unknown>,
): unknown {
  const named = Object.entries(members).filter(([, argument]) => Object.hasOwn(args, argument));
  const known = new Set([...Object.values(members), ...parameters.map(({ argument }) => argument)]);
  const others = Object.entries(args).filter(([argument]) => !known.has(argument));
  if (named.length + others.length === 0 && !isRequired) return undefined;
  return Object.fromEntries([...named.map(([name, argument]) => [name, args[argument]]), ...others]);
}

function fieldsOf(argument: string, value: unknown): [string, unknown][] {
  if (isRecord(value)) return Object.entries(value);
  throw invalidValue(argument, 'must be an object: the body is a form');
}

/** Lists repeat their name and objects are written as `a[b]=c`, unless the document specifies another style, or JSON. */
function formText({ styles = {}, types = {} }: OperationBody, fields: readonly [string, unknown][]): string {
  return fields
    .flatMap(([name, value]) => {
      const style = ownMember(styles, name);
      const usual = { style: isRecord(value) ? ('deepObject' as const) : ('form' as const), explode: true };
      const isJson = style === undefined && typeof value === 'object' && bodyForm(ownMember(types, name) ?? '') === 'json';
      return queryPairs({ name, ...(style ?? usual), ...(isJson && { isJson: true as const }) }, value);
    })
    .join('&')
    .replaceAll('%20', '+');
}

/**
 * Written here, because a `FormData` gives each part with a content type a file name, and servers then read it as a file (RFC 7578 §4.2).
 * Lists repeat their name, unless the document specifies that they are joined.
 */
function multipart({ files = [], styles = {}, types = {} }: OperationBody, fields: readonly [string, unknown][]): WrittenBody {
  const boundary = `moniker-${crypto.randomUUID()}`;
  const chunks: Uint8Array[] = [];
  const text = (written: string): void => void chunks.push(encoder.encode(written));
  for (const [name, value] of fields) {
    const style = ownMember(styles, name);
    const isJoined = style?.explode === false && Array.isArray(value);
    for (const part of isJoined ? [value.map(plainText).join(joints[style.style] ?? ',')] : Array.isArray(value) ? value : [value]) {
      const isFile = files.includes(name);
      const isObject = typeof part === 'object' && part !== null;
      const type = ownMember(types, name) ?? (isFile ? 'application/octet-stream' : isObject ? 'application/json' : undefined);
      const file = isFile ? `; filename="${quotedName(name)}"` : '';
      text(`--${boundary}\r\ncontent-disposition: form-data; name="${quotedName(name)}"${file}\r\n`);
      text(`${type === undefined ? '' : `content-type: ${type}\r\n`}\r\n`);
      if (isFile) chunks.push(bytesOf(name, part));
      else text(isObject || (type !== undefined && bodyForm(type) === 'json') ? JSON.stringify(part) : plainText(part));
      text('\r\n');
    }
  }
  text(`--${boundary}--\r\n`);
  return { content: joinBytes(chunks), contentType: `multipart/form-data; boundary=${boundary}` };
}

const encoder = new TextEncoder();

const joints: Readonly<Record<string, string>> = { spaceDelimited: ' ', pipeDelimited: '|' };

function plainText(value: unknown): string {
  return value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** HTML Standard, "multipart/form-data encoding algorithm". */
function quotedName(name: string): string {
  return name.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22');
}

function bytesOf(argument: string, value: unknown): Uint8Array<ArrayBuffer> {
  const bytes = typeof value === 'string' ? fromBase64(value) : null;
  if (bytes === null) throw invalidValue(argument, 'must be base64');
  return bytes;
}
