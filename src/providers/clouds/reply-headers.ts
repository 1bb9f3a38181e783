/** Returns the headers of a reply whose body is written anew. */
export function withoutLength(headers: Headers): Headers {
  const own = new Headers(headers);
  for (const name of ['content-length', 'content-encoding', 'transfer-encoding']) own.delete(name);
  return own;
}
