/** The result page after a user has signed in to a server, or failed to. */
import { htmlPage } from './html.ts';
import { escapeInvisible } from './escape-invisible.ts';

export function signedInPage(server: string): string {
  return page('Signed in', `The server ${server} can be used now. You may close this page.`);
}

/** `why`: may contain text of another service. */
export function notSignedInPage(why: string): string {
  return page('Not signed in', why);
}

function page(title: string, text: string): string {
  return htmlPage(title, `<main class="approval">\n<h1>${title}</h1>\n<p>${escapeInvisible(text)}</p>\n</main>`);
}
