// ccTalk's framing by @serialport/parser-cctalk: pieces of a line as hex, one a line, come out as frames, one a line.
const readline = require('readline');
const { CCTalkParser } = require('@serialport/parser-cctalk');

// No clock: the pieces come as fast as they are read.
const parser = new CCTalkParser(0);
parser.on('data', frame => console.log(frame.toString('hex')));
readline.createInterface({ input: process.stdin }).on('line', piece => parser.write(Buffer.from(piece, 'hex')));
