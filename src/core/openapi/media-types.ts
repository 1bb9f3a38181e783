/** Maps content types to body encodings, and picks the one that a tool uses. OpenAPI 3.1.1, "Media Type Object", "Request Body Object". */
import { resolveReference, type OpenApiDocument } from './document.ts';
import { isRecord, type Json } from '../json/wire-value.ts';

export type BodyForm = 'json' | 'form' | 'multipart' | 'text' | 'binary';

export function bodyForm(contentType: string): BodyForm {
  const type = bareType(contentType);
  if (/[/+]json$/.test(type)) return 'json';
  if (type === 'application/x-www-form-urlencoded') return 'form';
  if (type.startsWith('multipart/')) return 'multipart';
  return /^text\/|[/+](?:xml|yaml|javascript|csv|graphql|x-ndjson)$/.test(type) ? 'text' : 'binary';
}

function bareType(contentType: string): string {
  return (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

const preference: readonly BodyForm[] = ['json', 'form', 'multipart', 'text', 'binary'];

/** Returns the content type that the tool uses; null: none is described. */
export function pickMedia(document: OpenApiDocument, content: unknown, where: string): { contentType: string; media: Json } | null {
  if (!isRecord(content)) return null;
  const types = Object.entries(content).flatMap(([written, media]) => {
    const contentType = sendable(written);
    return contentType === null ? [] : [{ contentType, media }];
  });
  const rank = ({ contentType }: { contentType: string }): number =>
    preference.indexOf(bodyForm(contentType)) + (isPlainJson(contentType) ? -1 : 0);
  const [best] = types.sort((a, b) => rank(a) - rank(b));
  if (best === undefined) return null;
  return { contentType: best.contentType, media: resolveReference(document, best.media ?? {}, where) ?? {} };
}

function isPlainJson(contentType: string): boolean {
  return bareType(contentType) === 'application/json';
}

/** Returns the content type as it can be sent, for a range one that matches it; null: not valid as a header. */
function sendable(written: string): string | null {
  const type = bareType(written);
  if (!/^[a-z0-9*][a-z0-9!#$&^_.+*-]{0,99}\/[a-z0-9*][a-z0-9!#$&^_.+*-]{0,99}$/.test(type)) return null;
  if (!type.includes('*')) return bodyForm(type) === 'multipart' ? 'multipart/form-data' : type;
  if (type === '*/*' || type === 'application/*') return 'application/json';
  return type === 'text/*' ? 'text/plain' : 'application/octet-stream';
}
