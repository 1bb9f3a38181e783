/** Where a person ends who has signed in to a server, or has not: what came of it, and nothing to press. */
import { htmlPage } from './html.ts';
import { escapeInvisible } from './escape-invisible.ts';

export function signedInPage(server: string): string {
  return page('Signed in', `The server ${server} can be used now. You may close this page.`);
}

/** `why`: partly in the words of another service. */
export function notSignedInPage(why: string): string {
  return page('Not signed in', why);
}

function page(title: string, text: string): string {
  return htmlPage(title, `<main class="approval">\n<h1>${title}</h1>\n<p>${escapeInvisible(text)}</p>\n</main>`);
}
