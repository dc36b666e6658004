/** What k6 gives to scripts of the console. */
declare const console: { warn(text: string): void };
