/** Where this service is reached from outside. */

/** As the operator says it, without a slash at its end; null: they do not, or it is no http(s) address. */
export function publicBase(publicUrl: string | null): string | null {
  const url = publicUrl !== null && URL.canParse(publicUrl) ? new URL(publicUrl) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return null;
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}
