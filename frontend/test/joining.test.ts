import {expect, it} from "vitest";

import {joinCharacters} from "../src/domain/joining";
import {utf8} from "../src/domain/tokens";

const SMILE = utf8("😀");

it("leaves tokens alone that are whole", () => {
  expect(joinCharacters([utf8(" the"), utf8("سلام")])).toEqual([
    {start: 0, end: 1, joined: null},
    {start: 1, end: 2, joined: null},
  ]);
});

it("joins the pieces of one character", () => {
  expect(joinCharacters([SMILE.slice(0, 2), SMILE.slice(2, 3), SMILE.slice(3), utf8("!")])).toEqual(
    [
      {start: 0, end: 3, joined: "😀"},
      {start: 3, end: 4, joined: null},
    ],
  );
});

it("joins text before and after the character along with it", () => {
  const quote = utf8("’");
  expect(
    joinCharacters([
      [...utf8(" it"), ...quote.slice(0, 2)],
      [...quote.slice(2), 0x73],
    ]),
  ).toEqual([{start: 0, end: 2, joined: " it’s"}]);
});

it.each([
  ["the rest never comes", [SMILE.slice(0, 2)]],
  ["another character begins instead", [SMILE.slice(0, 2), utf8("a")]],
  ["a piece has no beginning", [SMILE.slice(2), utf8("a")]],
])("joins nothing where %s", (_, tokens) => {
  expect(joinCharacters(tokens).every((group) => group.joined === null)).toBe(true);
});
