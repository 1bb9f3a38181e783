/** How a request body of a content type is encoded. Apart from the rest of the import, since every call of an imported operation needs it. */
export type BodyForm = 'json' | 'form' | 'multipart' | 'text' | 'binary';

export function bodyForm(contentType: string): BodyForm {
  const type = bareType(contentType);
  if (/[/+]json$/.test(type)) return 'json';
  if (type === 'application/x-www-form-urlencoded') return 'form';
  if (type.startsWith('multipart/')) return 'multipart';
  return /^text\/|[/+](?:xml|yaml|javascript|csv|graphql|x-ndjson)$/.test(type) ? 'text' : 'binary';
}

export function bareType(contentType: string): string {
  return (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
}
