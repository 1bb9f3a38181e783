/**
 * Builds the request body of an operation, by content type. OpenAPI 3.1.1, "Request Body Object", "Considerations for `multipart` Content".
 */
import { fromBase64 } from '../../core/text/bytes.ts';
import { bodyForm } from '../../core/openapi/body-form.ts';
import { queryPairs, invalidValue } from '../../core/openapi/request-url.ts';
import type { ServerOperation, OperationBody } from '../../core/tools/server-operation.ts';
import { isRecord } from '../../core/json/wire-value.ts';

/** `contentType` undefined: the platform sets it, with the multipart boundary. */
export type WrittenBody = { content: string | Uint8Array<ArrayBuffer> | FormData; contentType?: string };

/** Returns the body, or null if none is sent. Throws `invalid_request`. */
export function writeBody(
  { body, parameters }: Pick<ServerOperation, 'body' | 'parameters'>,
  args: Record<string, unknown>,
): WrittenBody | null {
  if (body === null) return null;
  const value = body.argument === null ? memberValues(body, parameters, args) : own(args, body.argument);
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
      return { content: multipart(body, fieldsOf(argument, value)) };
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

function own(args: Record<string, unknown>, argument: string): unknown {
  return Object.hasOwn(args, argument) ? args[argument] : undefined;
}

function fieldsOf(argument: string, value: unknown): [string, unknown][] {
  if (isRecord(value)) return Object.entries(value);
  throw invalidValue(argument, 'must be an object: the body is a form');
}

/** Lists repeat their name and objects are written as `a[b]=c`, unless the document specifies another style. */
function formText({ styles = {} }: OperationBody, fields: readonly [string, unknown][]): string {
  return fields
    .flatMap(([name, value]) => {
      const usual = { style: isRecord(value) ? ('deepObject' as const) : ('form' as const), explode: true };
      return queryPairs({ name, ...(Object.hasOwn(styles, name) ? (styles[name] ?? usual) : usual) }, value);
    })
    .join('&')
    .replaceAll('%20', '+');
}

function multipart({ files = [] }: OperationBody, fields: readonly [string, unknown][]): FormData {
  const form = new FormData();
  for (const [name, value] of fields) {
    for (const part of Array.isArray(value) ? value : [value]) {
      if (files.includes(name)) form.append(name, new Blob([bytesOf(name, part)], { type: 'application/octet-stream' }), name);
      else if (typeof part === 'object' && part !== null) form.append(name, new Blob([JSON.stringify(part)], { type: 'application/json' }));
      else form.append(name, part === null ? '' : String(part));
    }
  }
  return form;
}

function bytesOf(argument: string, value: unknown): Uint8Array<ArrayBuffer> {
  const bytes = typeof value === 'string' ? fromBase64(value) : null;
  if (bytes === null) throw invalidValue(argument, 'must be base64');
  return bytes;
}
