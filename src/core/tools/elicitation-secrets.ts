/**
 * Detects whether the text of a form asks for a secret. It searches for words in the most common languages, so it finds a server that
 * asks openly, not one that disguises the question. Views of a form therefore also show which server asks. Used by `elicitation.ts`.
 */

/**
 * `text`: a field's name, title or description. `isText`: the field takes text, so `token` means a credential and not a count of
 * tokens.
 */
export function namesSecret(text: string, isText: boolean): boolean {
  const words = wordsOf(text);
  return secretWords.test(words) || (isText && tokenWords.test(words)) || foreignWords.test(words);
}

/** Whether a message asks for a secret: "Enter your password" does, "The password was changed" does not. */
export function isAskingForSecret(message: string): boolean {
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
