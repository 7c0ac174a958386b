#ifndef HCASIM_MODEL_CLOCK_QP_TABLE_H
#define HCASIM_MODEL_CLOCK_QP_TABLE_H

#include <cstdint>
#include <memory>
#include <vector>

namespace hcasim {

/// One T for each QP slot, in pages that are made when a QP of theirs is touched: a card with millions of
/// slots costs what its QPs in use cost.
template <class T>
class qp_table {
public:
    static constexpr std::uint32_t page_slots = 1024;

    /// All slots as T{}.
    void reset(std::uint32_t slots) {
        m_pages.resize((std::size_t{slots} + page_slots - 1) / page_slots);
        for (std::size_t i = 1; i < m_pages.size(); ++i) {
            m_pages[i].reset();
        }
        if (m_pages[0] != nullptr) {  // a card of usual size keeps its memory from run to run
            *m_pages[0] = page{};
        }
    }

    T& operator[](std::uint32_t slot) {
        std::unique_ptr<page>& p = m_pages[slot / page_slots];
        if (p == nullptr) {
            p = std::make_unique<page>();
        }
        return p->slots[slot % page_slots];
    }

    /// Without making a page.
    const T& operator[](std::uint32_t slot) const {
        static const T untouched{};
        const std::unique_ptr<page>& p = m_pages[slot / page_slots];
        return p == nullptr ? untouched : p->slots[slot % page_slots];
    }

private:
    struct page {
        T slots[page_slots] = {};
    };
    std::vector<std::unique_ptr<page>> m_pages;
};

}  // namespace hcasim

#endif
