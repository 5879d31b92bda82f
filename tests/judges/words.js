// A judge's ears and mouth: a deed a line on its input, what came of it a line on its output.
const readline = require('readline');

let last = '';
let hangsAt = null;

// The same again is said once: a host polls for ever.
const say = (...words) => {
  const line = words.join(' ').trim();
  if (line !== last) console.log(line);
  last = line;
  if (line === hangsAt) {
    hangsAt = null;
    process.kill(process.pid, 'SIGSTOP');
  }
};

const obey = deeds => {
  const input = readline.createInterface({ input: process.stdin });
  input.on('close', () => process.exit(0));
  input.on('line', async line => {
    const [deed, ...words] = line.split(' ');
    try {
      if (deed === 'hang_at') hangsAt = words.join(' ');
      else await deeds[deed](...words);
      say('done', deed);
    } catch (error) {
      say('failed', deed, error.message);
    }
  });
};

module.exports = { obey, say };
