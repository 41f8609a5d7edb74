//! Names of sets of characters that Go's `regexp` knows.

/// The ASCII classes, which `regex` knows by the same names.
pub(super) const ASCII_CLASSES: &str =
    "alnum alpha ascii blank cntrl digit graph lower print punct space upper word xdigit";

/// The general categories by all names that Go 1.26 has for them, as it compares them.
pub(super) const CATEGORIES: &str = "C Casedletter Cc Cf Closepunctuation Cn Cntrl Co Combiningmark Connectorpunctuation Control \
    Cs Currencysymbol Dashpunctuation Decimalnumber Digit Enclosingmark Finalpunctuation Format Initialpunctuation L \
    Lc Letter Letternumber Lineseparator Ll Lm Lo Lowercaseletter Lt Lu M Mark Mathsymbol Mc Me Mn Modifierletter \
    Modifiersymbol N Nd Nl No Nonspacingmark Number Openpunctuation Other Otherletter Othernumber Otherpunctuation \
    Othersymbol P Paragraphseparator Pc Pd Pe Pf Pi Po Privateuse Ps Punct Punctuation S Sc Separator Sk Sm So \
    Spaceseparator Spacingmark Surrogate Symbol Titlecaseletter Unassigned Uppercaseletter Z Zl Zp Zs";

/// The scripts that Go 1.26 finds. It removes underscores and capitals from the name asked for but not from those in
/// its table, so it misses all scripts that have them within (`Old_Italic`, `SignWriting`).
pub(super) const SCRIPTS: &str = "Adlam Ahom Arabic Armenian Avestan Balinese Bamum Batak Bengali Bhaiksuki Bopomofo Brahmi \
    Braille Buginese Buhid Carian Chakma Cham Cherokee Chorasmian Common Coptic Cuneiform Cypriot Cyrillic Deseret \
    Devanagari Dogra Duployan Elbasan Elymaic Ethiopic Georgian Glagolitic Gothic Grantha Greek Gujarati Gurmukhi Han \
    Hangul Hanunoo Hatran Hebrew Hiragana Inherited Javanese Kaithi Kannada Katakana Kawi Kharoshthi Khmer Khojki \
    Khudawadi Lao Latin Lepcha Limbu Lisu Lycian Lydian Mahajani Makasar Malayalam Mandaic Manichaean Marchen \
    Medefaidrin Miao Modi Mongolian Mro Multani Myanmar Nabataean Nandinagari Newa Nko Nushu Ogham Oriya Osage Osmanya \
    Palmyrene Phoenician Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham Sinhala Sogdian Soyombo Sundanese \
    Syriac Tagalog Tagbanwa Takri Tamil Tangsa Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta Toto Ugaritic Vai \
    Vithkuqi Wancho Yezidi Yi";
