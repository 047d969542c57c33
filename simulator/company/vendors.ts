import { hash } from "../random.ts";

export interface Vendor {
  readonly id: string;
  readonly name: string;
  readonly website: string;
  readonly currency: string;
  readonly contact: string;
  readonly domain: string;
}

const TRADES: readonly (readonly [name: string, domain: string])[] = [
  ["Müller Präzisionsteile GmbH & Co. KG", "mueller-praezision.de"],
  ["Grainger Industrial Supply", "grainger-supply.com"],
  ['Smith & "Sons" Fasteners, Inc.', "smithsons.com"],
  ["東京精密部品株式会社", "tokyo-seimitsu.co.jp"],
  ["Łódź Metal Sp. z o.o.", "lodzmetal.pl"],
  ["O'Brien Hydraulics Ltd.", "obrien-hydraulics.ie"],
  ["Société Générale d'Outillage", "sgo-outillage.fr"],
  ["深圳市华强电子有限公司", "huaqiang-parts.cn"],
  ["Ferretería Núñez S.A. de C.V.", "ferreteria-nunez.mx"],
  ["Björk Ventilteknik AB", "bjork-ventil.se"],
  ["Great Lakes Bearing Co.", "greatlakesbearing.com"],
  ["Þór Rafmagn ehf.", "thor-rafmagn.is"],
  ["Delta Packaging, LLC", "deltapack.com"],
  ["Çelik Çekme Sanayi A.Ş.", "celikcekme.com.tr"],
  ["Royal Flush 🚽 Sanitary Parts", "royalflush.example"],
  ["Αθηναϊκή Χαλυβουργία Α.Ε.", "athens-steel.gr"],
  ["한국정밀공업 (주)", "hanjung.kr"],
  ["Fastenwerk Österreich GesmbH", "fastenwerk.at"],
  ["Midwest Freight Lines", "midwestfreight.com"],
  ["ООО «Уралмаш-Деталь»", "uralmash-detal.example"],
];
const PLACES = ["", " Nord", " – Süd", " (West)", " East Coast", " / Export", " II", " 上海"];
const PEOPLE = ["Jörg Weiß", "Ana Núñez", "Li Wei (李伟)", "Siobhán O'Connor", 'Robert "Bob" Hale', "Zoë Čapková"];
const CURRENCIES = ["EUR", "USD", "USD", "JPY", "GBP", "EUR", "CNY", "MXN"];

/** `count` vendors with names as real states have them: umlauts, CJK, quotes, ampersands, an emoji. */
export function vendorsOf(seed: number, count: number): [Vendor, ...Vendor[]] {
  const first = vendorOf(seed, 0);
  return [first, ...Array.from({ length: count - 1 }, (_, i) => vendorOf(seed, i + 1))];
}

function vendorOf(seed: number, index: number): Vendor {
  const [name, domain] = TRADES[index % TRADES.length] ?? ["Vendor", "vendor.example"];
  const round = Math.floor(index / TRADES.length);
  const place = PLACES[round % PLACES.length] ?? "";
  const value = hash(seed, 99, index);
  return {
    id: `VND-${String(index + 1).padStart(4, "0")}`,
    name: `${name}${place}${round >= PLACES.length ? ` ${round}` : ""}`,
    website: round === 0 ? `https://www.${domain}` : `https://${round}.${domain}`,
    currency: CURRENCIES[value % CURRENCIES.length] ?? "EUR",
    contact: PEOPLE[(value >>> 8) % PEOPLE.length] ?? "",
    domain,
  };
}
