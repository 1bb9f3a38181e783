/** The schema of a URL that Moniker sends to without credentials in it. */
import * as z from 'zod';
import { limits } from '../limits/limits.ts';

/** The URL of signed messages. The guard checks it when they are sent. */
export const CallbackUrl = z
  .url({ protocol: /^https?$/, error: 'must be an absolute URL that begins with https:// or http://' })
  .max(limits.maxUrlLength)
  .refine(
    (text) => {
      const url = URL.parse(text);
      return url === null || (url.username === '' && url.password === '');
    },
    { message: 'must not contain a user name or password: messages are signed instead' },
  );
