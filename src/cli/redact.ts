/** The command line for the recording: header values, and what a URL may hide, stay out of it. */
export function redactedCommand(args: readonly string[]): string {
  return args
    .map((arg, i) => {
      if (args[i - 1] === '--header') return arg.replace(/:.*/s, ': …');
      if (arg.startsWith('--header=')) return arg.replace(/:.*/s, ': …');
      return arg.replace(/^(https?:\/\/)[^/@]*@/, '$1').replace(/^(https?:\/\/[^?#]*)[?#].*$/, '$1?…');
    })
    .join(' ');
}
